/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/packer.h"

#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "core/base/pages.h"

/* Small: the host wants its caches and its address space for itself. Smaller for what is short: the
 * tables are cleared for each payload. */
enum { LEVEL = 3, WINDOW_LOG = 18, HASH_LOG = 14, SHORT_HASH_LOG = 12, BLOCK_LOG = 15 };
enum { SHORT = 48 << 10 };

static ZSTD_compressionParameters choose(void)
{
    ZSTD_compressionParameters parameters = ZSTD_getCParams(LEVEL, UINT64_C(1) << WINDOW_LOG, 0);
    parameters.windowLog = WINDOW_LOG;
    parameters.hashLog = HASH_LOG;
    parameters.chainLog = HASH_LOG;
    parameters.minMatch = 4;
    return parameters;
}

static bool set_up(struct ZSTD_CCtx_s *compressor, const ZSTD_compressionParameters *parameters)
{
    const struct {
        ZSTD_cParameter parameter;
        unsigned value;
    } settings[] = {
        {ZSTD_c_windowLog, parameters->windowLog},
        {ZSTD_c_chainLog, parameters->chainLog},
        {ZSTD_c_hashLog, parameters->hashLog},
        {ZSTD_c_searchLog, parameters->searchLog},
        {ZSTD_c_minMatch, parameters->minMatch},
        {ZSTD_c_targetLength, parameters->targetLength},
        {ZSTD_c_strategy, parameters->strategy},
        {ZSTD_c_maxBlockSize, 1 << BLOCK_LOG},
        /* Names and columns are different enough for tables of their own. */
        {ZSTD_c_useBlockSplitter, ZSTD_ps_enable},
        {ZSTD_c_contentSizeFlag, 0}, /* the chunk's header has it */
    };
    for (size_t i = 0; i < YARN_COUNT_OF(settings); i++) {
        if (ZSTD_isError(
                ZSTD_CCtx_setParameter(compressor, settings[i].parameter, (int)settings[i].value)))
            return false;
    }
    return true;
}

int yarn_dump_packer_open(struct yarn_dump_packer *packer)
{
    const ZSTD_compressionParameters parameters = choose();
    ZSTD_compressionParameters of_a_block = parameters;
    of_a_block.windowLog = BLOCK_LOG;
    size_t size = ZSTD_estimateCCtxSize_usingCParams(of_a_block);
    void *workspace = yarn_pages_map(size);
    if (!workspace)
        return -ENOMEM;
    struct ZSTD_CCtx_s *compressor = ZSTD_initStaticCCtx(workspace, size);
    if (!compressor || !set_up(compressor, &parameters)) {
        yarn_pages_unmap(workspace, size);
        return -ENOMEM;
    }
    *packer = (struct yarn_dump_packer){
        .workspace = workspace,
        .workspace_bytes = size,
        .compressor = compressor,
    };
    return 0;
}

void yarn_dump_packer_close(struct yarn_dump_packer *packer)
{
    yarn_pages_unmap(packer->workspace, packer->workspace_bytes);
    packer->workspace = NULL;
    packer->workspace_bytes = 0;
}

size_t yarn_dump_packer_pack(struct yarn_dump_packer *packer, struct yarn_span payload,
                             uint8_t *ret_stored, enum yarn_dump_codec *ret_codec)
{
    int hash_log = payload.size < SHORT ? SHORT_HASH_LOG : HASH_LOG;
    size_t size = ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_hashLog, hash_log);
    if (!ZSTD_isError(size))
        size = ZSTD_CCtx_setParameter(packer->compressor, ZSTD_c_chainLog, hash_log);
    /* Room for less than the payload: what does not fit is better off as it is. */
    if (!ZSTD_isError(size))
        size = ZSTD_compress2(packer->compressor, ret_stored, payload.size, payload.data,
                              payload.size);
    *ret_codec = YARN_DUMP_CODEC_ZSTD;
    if (!ZSTD_isError(size))
        return size;
    *ret_codec = YARN_DUMP_CODEC_NONE;
    memcpy(ret_stored, payload.data, payload.size);
    return payload.size;
}
