/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compresses the payloads of a dump's chunks, each separately, in a static workspace. Knows
 * Zstandard; does not know what payloads hold.
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
};

YARN_MUST_CHECK int yarn_dump_packer_open(struct yarn_dump_packer *packer);
/* Idempotent. */
void yarn_dump_packer_close(struct yarn_dump_packer *packer);

/* The size of the payload as stored: at most its own, for which there is room. */
size_t yarn_dump_packer_pack(struct yarn_dump_packer *packer, struct yarn_span payload,
                             uint8_t *ret_stored, enum yarn_dump_codec *ret_codec);
