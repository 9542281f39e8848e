/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The payloads of a dump's chunks as they were before compression, chunk by chunk in the order of
 * the file. Trusts neither sizes nor content; memory is bounded by a payload and the window that
 * the format allows. Knows codecs; does not know what payloads hold.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/chunk.h"

struct yarn_dump_unpacker {
    struct ZSTD_DCtx_s *context; /* owned */
    uint8_t *raw;                /* owned; a payload */
    size_t capacity;             /* of it */
    bool is_in_series;           /* the context holds one that may go on behind this chunk: */
    uint32_t sequence;
    uint16_t process;
};

YARN_MUST_CHECK int yarn_dump_unpacker_open(struct yarn_dump_unpacker *unpacker);
/* Idempotent. */
void yarn_dump_unpacker_close(struct yarn_dump_unpacker *unpacker);

/* A chunk was left out: what continues it cannot be unpacked. */
void yarn_dump_unpacker_forget(struct yarn_dump_unpacker *unpacker);

/* *ret_payload is valid until the next call. -EBADMSG: it is not what the header says; -ESTALE: the
 * chunk continues one that was not unpacked. */
YARN_MUST_CHECK int yarn_dump_unpacker_unpack(struct yarn_dump_unpacker *unpacker,
                                              const struct yarn_dump_chunk *chunk,
                                              struct yarn_span stored,
                                              struct yarn_span *ret_payload);
