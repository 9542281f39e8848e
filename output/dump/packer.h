/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compresses the payloads of a dump's chunks, in a static workspace. A series of chunks is one
 * Zstandard frame, so that each profits from what stood in those before it; after so many chunks,
 * or so many bytes, another series begins, which is where a reader takes up again after damage.
 * Knows Zstandard; does not know what payloads hold.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/span.h"
#include "output/dump/format.h"

struct yarn_dump_packer {
    void *workspace; /* owned; NULL while closed */
    size_t workspace_bytes;
    struct ZSTD_CCtx_s *compressor; /* in the workspace */
    uint32_t chunks_a_series;
    uint32_t series;    /* its number: another one, another series */
    uint32_t nr_chunks; /* of the series so far; 0: the next one begins it */
    size_t raw_bytes;   /* of these */
};

/* `level`: of zstd. */
YARN_MUST_CHECK int yarn_dump_packer_open(struct yarn_dump_packer *packer, int level,
                                          uint32_t chunks_a_series);
/* Idempotent. */
void yarn_dump_packer_close(struct yarn_dump_packer *packer);

/* The size of the payload as stored. From `dense_at` on it is stored as it is. `capacity`: at least
 * 1 KiB more than the payload's size. */
size_t yarn_dump_packer_pack(struct yarn_dump_packer *packer, struct yarn_span payload,
                             size_t dense_at, uint8_t *ret_stored, size_t capacity,
                             enum yarn_dump_codec *ret_codec);

/* The next chunk begins a series: it must not depend on those before, or what was packed last did
 * not come into the file. */
void yarn_dump_packer_restart(struct yarn_dump_packer *packer);
