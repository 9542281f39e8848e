/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/packer.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "core/base/bytes.h"
#include "core/base/pages.h"

/* Small: the host wants its caches and its address space for itself. */
enum { HASH_LOG = 14, BLOCK_LOG = 15 };

/* Where a series ends at the latest: what a reader loses with one chunk is bounded. */
static const size_t RAW_BYTES_A_SERIES = YARN_KIB(512);

static bool set_up(struct ZSTD_CCtx_s *compressor, ZSTD_compressionParameters parameters)
{
    const struct {
        ZSTD_cParameter parameter;
        unsigned value;
    } settings[] = {
        {ZSTD_c_windowLog, parameters.windowLog}, {ZSTD_c_chainLog, parameters.chainLog},
        {ZSTD_c_hashLog, parameters.hashLog},     {ZSTD_c_searchLog, parameters.searchLog},
        {ZSTD_c_minMatch, parameters.minMatch},   {ZSTD_c_targetLength, parameters.targetLength},
        {ZSTD_c_strategy, parameters.strategy},   {ZSTD_c_maxBlockSize, 1 << BLOCK_LOG},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(settings); i++) {
        if (ZSTD_isError(
                ZSTD_CCtx_setParameter(compressor, settings[i].parameter, (int)settings[i].value)))
            return false;
    }
    return true;
}

int yarn_dump_packer_open(struct yarn_dump_packer *packer, int level, uint32_t chunks_a_series)
{
    ZSTD_compressionParameters parameters =
        ZSTD_getCParams(level, UINT64_C(1) << YARN_DUMP_WINDOW_LOG, 0);
    parameters.hashLog = HASH_LOG;
    parameters.minMatch = 4;
    /* As for a window of one block, and the rest of the window. */
    parameters.windowLog = BLOCK_LOG;
    size_t size = ZSTD_estimateCStreamSize_usingCParams(parameters) + (1 << YARN_DUMP_WINDOW_LOG) -
                  (1 << BLOCK_LOG);
    parameters.windowLog = YARN_DUMP_WINDOW_LOG;
    void *workspace = yarn_pages_map(size);
    if (!workspace)
        return -ENOMEM;
    struct ZSTD_CCtx_s *compressor = ZSTD_initStaticCCtx(workspace, size);
    if (!compressor || !set_up(compressor, parameters)) {
        yarn_pages_unmap(workspace, size);
        return -ENOMEM;
    }
    *packer = (struct yarn_dump_packer){
        .workspace = workspace,
        .workspace_bytes = size,
        .compressor = compressor,
        .chunks_a_series = chunks_a_series,
    };
    return 0;
}

void yarn_dump_packer_close(struct yarn_dump_packer *packer)
{
    yarn_pages_unmap(packer->workspace, packer->workspace_bytes);
    packer->workspace = NULL;
    packer->workspace_bytes = 0;
}

void yarn_dump_packer_restart(struct yarn_dump_packer *packer)
{
    packer->series++;
    packer->nr_chunks = 0;
    packer->raw_bytes = 0;
}

/* Flushed, so that it can be read without what follows. */
static bool compress(struct yarn_dump_packer *packer, struct yarn_span text, ZSTD_outBuffer *out)
{
    ZSTD_inBuffer in = {.src = text.data, .size = text.size};
    if (!packer->nr_chunks &&
        ZSTD_isError(ZSTD_CCtx_reset(packer->compressor, ZSTD_reset_session_only)))
        return false;
    return !text.size || ZSTD_compressStream2(packer->compressor, out, &in, ZSTD_e_flush) == 0;
}

size_t yarn_dump_packer_pack(struct yarn_dump_packer *packer, struct yarn_span payload,
                             size_t dense_at, uint8_t *ret_stored, size_t capacity,
                             enum yarn_dump_codec *ret_codec)
{
    bool begins = !packer->nr_chunks;
    struct yarn_span dense = yarn_span_from(payload, dense_at);
    struct yarn_bytes stored = yarn_bytes_of(ret_stored, capacity);
    ZSTD_outBuffer out = {
        .dst = ret_stored + YARN_DUMP_PIECE_HEAD,
        .size = capacity - YARN_DUMP_PIECE_HEAD - dense.size,
    };
    if (!compress(packer, yarn_span_sub(payload, 0, dense_at), &out)) {
        yarn_dump_packer_restart(packer);
        memcpy(ret_stored, payload.data, payload.size);
        *ret_codec = begins ? YARN_DUMP_CODEC_NONE : YARN_DUMP_CODEC_SERIES_PLAIN;
        return payload.size;
    }
    packer->nr_chunks++;
    packer->raw_bytes += payload.size;
    if (packer->nr_chunks >= packer->chunks_a_series || packer->raw_bytes >= RAW_BYTES_A_SERIES)
        yarn_dump_packer_restart(packer);
    *ret_codec = begins ? YARN_DUMP_CODEC_SERIES_BEGIN : YARN_DUMP_CODEC_SERIES_NEXT;
    yarn_bytes_u16(&stored, (uint16_t)out.pos);
    yarn_bytes_u8(&stored, (uint8_t)(out.pos >> 16));
    stored.size += out.pos;
    yarn_bytes_put(&stored, dense.data, dense.size);
    return stored.size;
}
