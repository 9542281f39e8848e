/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bytes that do not belong into memory: appended to a file without a name (so that nothing remains
 * of it, however the program ends), then read back or mapped whole. The file is in TMPDIR, else in
 * /var/tmp, which is meant for large files, else in /tmp, else in memory.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/span.h"

struct yarn_spill {
    int fd;          /* owned; -1 while closed */
    uint8_t *buffer; /* owned */
    size_t buffered;
    uint64_t size; /* of all */
};

#define YARN_SPILL_CLOSED ((struct yarn_spill){.fd = -1})

YARN_MUST_CHECK int yarn_spill_open(struct yarn_spill *spill);
YARN_MUST_CHECK int yarn_spill_put(struct yarn_spill *spill, struct yarn_span bytes);
YARN_MUST_CHECK int yarn_spill_get(struct yarn_spill *spill, uint64_t at, void *bytes, size_t size);
/* *ret_bytes outlives it, until yarn_spill_unmap, and may be written to. */
YARN_MUST_CHECK int yarn_spill_map(struct yarn_spill *spill, struct yarn_span *ret_bytes);
/* Mapped bytes of a file leave memory, until they are read again. */
void yarn_spill_drop_pages(struct yarn_span bytes);
void yarn_spill_unmap(struct yarn_span bytes);
/* Idempotent. */
void yarn_spill_close(struct yarn_spill *spill);
