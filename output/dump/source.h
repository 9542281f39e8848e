/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of a dump from front to back, from a file (or a pipe) through a buffer, or from memory
 * as they are. Knows offsets; does not know what bytes mean. Threads: one owner. Signals: not safe.
 */
#pragma once

#include "core/base/span.h"

struct yarn_dump_source {
    int fd;          /* owned; -1: all there is lies in `window` */
    uint8_t *buffer; /* owned; NULL for memory */
    size_t capacity; /* of the buffer */
    uint64_t offset; /* of the window in the file */
    bool at_end;     /* nothing comes behind the window */
    int error;       /* negative errno of a failing read: the file ends there */
    struct yarn_span window;
};

YARN_MUST_CHECK int yarn_dump_source_open(struct yarn_dump_source *source, const char *path);
struct yarn_dump_source yarn_dump_source_of(struct yarn_span bytes);
/* Idempotent. */
void yarn_dump_source_close(struct yarn_dump_source *source);

/* The bytes ahead: at least `size` bytes, fewer only where the file ends. Valid until the next peek
 * or pass. */
struct yarn_span yarn_dump_source_peek(struct yarn_dump_source *source, size_t size);

/* Goes on by so many bytes, which must have been peeked. */
void yarn_dump_source_pass(struct yarn_dump_source *source, size_t size);
