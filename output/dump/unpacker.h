/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The payloads of a dump's chunks as they were before compression. Trusts neither sizes nor
 * content; memory is bounded by a payload. Knows codecs; does not know what payloads hold.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/chunk.h"

struct yarn_dump_unpacker {
    struct ZSTD_DCtx_s *context; /* owned */
    uint8_t *raw;                /* owned; a payload */
    size_t capacity;             /* of it */
};

YARN_MUST_CHECK int yarn_dump_unpacker_open(struct yarn_dump_unpacker *unpacker);
/* Idempotent. */
void yarn_dump_unpacker_close(struct yarn_dump_unpacker *unpacker);

/* *ret_payload is valid until the next call. -EBADMSG: it is not what the header says. */
YARN_MUST_CHECK int yarn_dump_unpacker_unpack(struct yarn_dump_unpacker *unpacker,
                                              const struct yarn_dump_chunk *chunk,
                                              struct yarn_span stored,
                                              struct yarn_span *ret_payload);
