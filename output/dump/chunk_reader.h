/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The valid chunks of a dump, one after the other, decompressed; bytes between them are damage and
 * are noted in the summary. Knows headers, checksums and order; does not know records. Bounded by
 * one chunk; time is linear in the file's size whatever it holds.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/allowance.h"
#include "output/dump/chunk.h"
#include "output/dump/source.h"
#include "output/dump/visitor.h"

/* The payloads of a dump's chunks as they were before compression. Trusts neither sizes nor
 * content; memory is bounded by a payload. Knows codecs; does not know what payloads hold. */

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

struct yarn_dump_chunk_reader {
    struct yarn_dump_source *source;   /* borrowed */
    struct yarn_dump_summary *summary; /* borrowed */
    struct yarn_dump_unpacker unpacker;
    struct yarn_dump_allowance *allowance; /* borrowed */
    uint64_t offset;                       /* of the chunk in the file */
    struct yarn_span whole;                /* the chunk as it stands there, until the next call */
    uint32_t next_sequence;                /* expected */
    bool is_after_damage;                  /* explains a gap in the sequence */
    uint64_t rescanned; /* bytes of damaged chunks that were searched for chunks */
};

/* Reads the file header. -ENOEXEC: no dump, or none that this reader knows. */
YARN_MUST_CHECK int yarn_dump_chunk_reader_open(struct yarn_dump_chunk_reader *reader,
                                                struct yarn_dump_source *source,
                                                struct yarn_dump_summary *summary,
                                                struct yarn_dump_allowance *allowance);
/* Idempotent. */
void yarn_dump_chunk_reader_close(struct yarn_dump_chunk_reader *reader);

/* 1: *ret_chunk and *ret_payload, valid until the next call; 0: the end; or a negative errno. */
YARN_MUST_CHECK int yarn_dump_chunk_reader_next(struct yarn_dump_chunk_reader *reader,
                                                struct yarn_dump_chunk *ret_chunk,
                                                struct yarn_span *ret_payload);
