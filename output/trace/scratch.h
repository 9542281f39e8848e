/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bytes that do not belong into memory: appended to a file without a name, then mapped whole.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/span.h"

struct yarn_scratch {
    int fd;          /* owned; -1 while closed */
    uint8_t *buffer; /* owned */
    size_t buffered;
    uint64_t size; /* of all */
};

#define YARN_SCRATCH_CLOSED ((struct yarn_scratch){.fd = -1})

YARN_MUST_CHECK int yarn_scratch_open(struct yarn_scratch *scratch);
YARN_MUST_CHECK int yarn_scratch_put(struct yarn_scratch *scratch, struct yarn_span bytes);
/* *ret_bytes outlives it, until yarn_scratch_unmap. */
YARN_MUST_CHECK int yarn_scratch_map(struct yarn_scratch *scratch, struct yarn_span *ret_bytes);
/* Mapped bytes of a file leave memory, until they are read again. */
void yarn_scratch_drop_pages(struct yarn_span bytes);
void yarn_scratch_unmap(struct yarn_span bytes);
/* Idempotent. */
void yarn_scratch_close(struct yarn_scratch *scratch);
