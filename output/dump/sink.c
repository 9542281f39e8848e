/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/sink.h"

#include <sys/resource.h>
#define ZSTD_STATIC_LINKING_ONLY
#include <zstd.h>

#include "core/base/crc32c.h"
#include "core/base/pages.h"
#include "core/sys/file.h"
#include "core/sys/process.h"

enum { RESERVE_BYTES = 4096 }; /* of a limited file, for the reason of its end */

/* Compresses the payloads of a dump's chunks, each separately, in a static workspace. Knows
 * Zstandard; does not know what payloads hold. */

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

static int open_packer(struct yarn_dump_packer *packer)
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

/* Idempotent. */
static void close_packer(struct yarn_dump_packer *packer)
{
    yarn_pages_unmap(packer->workspace, packer->workspace_bytes);
    packer->workspace = NULL;
    packer->workspace_bytes = 0;
}

/* The size of the payload as stored: at most its own, for which there is room. */
static size_t pack(struct yarn_dump_packer *packer, struct yarn_span payload, uint8_t *ret_stored,
                   enum yarn_dump_codec *ret_codec)
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

static int write_file_header(int fd)
{
    uint8_t bytes[YARN_DUMP_FILE_HEADER_BYTES];
    const struct yarn_dump_file_header header = {
        .major = YARN_DUMP_MAJOR,
        .minor = YARN_DUMP_MINOR,
        .header_bytes = sizeof bytes,
    };
    yarn_dump_file_header_encode(&header, bytes);
    return yarn_file_write_all(fd, yarn_span_of(bytes, sizeof bytes));
}

static void begin(struct yarn_dump_sink *sink)
{
    sink->fd = -1;
    sink->chunk.header_bytes = YARN_DUMP_CHUNK_HEADER_BYTES;
    sink->raw = yarn_bytes_of(sink->raw_data, sizeof sink->raw_data);
}

int yarn_dump_sink_init(struct yarn_dump_sink *sink)
{
    begin(sink);
    return open_packer(&sink->packer);
}

void yarn_dump_sink_renew(struct yarn_dump_sink *sink)
{
    struct yarn_dump_packer packer = sink->packer;
    yarn_file_close(sink->fd);
    memset(sink, 0, offsetof(struct yarn_dump_sink, raw_data));
    sink->packer = packer;
    begin(sink);
}

int yarn_dump_sink_open(struct yarn_dump_sink *sink, int fd)
{
    int err = write_file_header(fd);
    if (err)
        return err;
    sink->fd = fd;
    sink->bytes_written = YARN_DUMP_FILE_HEADER_BYTES;
    return 0;
}

void yarn_dump_sink_close(struct yarn_dump_sink *sink)
{
    yarn_file_close(sink->fd);
    close_packer(&sink->packer);
    sink->fd = -1;
}

uint64_t yarn_dump_sink_time(struct yarn_dump_sink *sink, uint64_t time_ns)
{
    if (!sink->has_time) {
        sink->chunk.time_ns = time_ns;
        sink->has_time = true;
    }
    return sink->chunk.time_ns;
}

void yarn_dump_sink_reset_time(struct yarn_dump_sink *sink)
{
    sink->has_time = false;
    sink->chunk.time_ns = 0;
}

void yarn_dump_sink_count_samples(struct yarn_dump_sink *sink,
                                  const uint64_t counts[YARN_DUMP_STACK_END_COUNT])
{
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++)
        sink->waiting[i] += counts[i];
}

bool yarn_dump_sink_recover(struct yarn_dump_sink *sink)
{
    bool is_full = sink->error == -ENOSPC || sink->error == -EFBIG || sink->error == -EDQUOT;
    if (!is_full || sink->is_recovered || yarn_file_cut(sink->fd, sink->bytes_written))
        return false;
    sink->is_recovered = true;
    sink->error = 0;
    memset(sink->waiting, 0, sizeof sink->waiting);
    yarn_bytes_reset(&sink->raw);
    yarn_dump_sink_reset_time(sink);
    return true;
}

static int write_chunk(struct yarn_dump_sink *sink, size_t size)
{
    uint64_t end = sink->bytes_written + size + (sink->is_recovered ? 0 : RESERVE_BYTES);
    if (end > yarn_process_limit(RLIMIT_FSIZE))
        return -EFBIG;
    return yarn_file_write_all(sink->fd, yarn_span_of(sink->stored, size));
}

void yarn_dump_sink_flush(struct yarn_dump_sink *sink)
{
    if (!sink->raw.size || sink->error)
        return;
    enum yarn_dump_codec codec;
    uint8_t *payload = sink->stored + YARN_DUMP_CHUNK_HEADER_BYTES;
    size_t size = pack(&sink->packer, yarn_bytes_span(&sink->raw), payload, &codec);
    sink->chunk.codec = (uint8_t)codec;
    sink->chunk.raw_bytes = (uint32_t)sink->raw.size;
    sink->chunk.stored_bytes = (uint32_t)size;
    sink->chunk.payload_crc = yarn_crc32c(0, yarn_span_of(payload, size));
    yarn_dump_chunk_encode(&sink->chunk, sink->stored);

    size += YARN_DUMP_CHUNK_HEADER_BYTES;
    sink->error = write_chunk(sink, size);
    if (sink->error)
        return;
    sink->bytes_written += size;
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++) {
        sink->written[i] += sink->waiting[i];
        sink->waiting[i] = 0;
    }
    sink->chunk.sequence++;
    yarn_bytes_reset(&sink->raw);
}

bool yarn_dump_sink_take_back(struct yarn_dump_sink *sink, size_t mark)
{
    if (!sink->raw.full)
        return false;
    sink->raw.full = false;
    sink->raw.size = mark;
    yarn_dump_sink_flush(sink);
    return !sink->error;
}

void yarn_dump_sink_append(struct yarn_dump_sink *sink, struct yarn_span records)
{
    if (yarn_bytes_room(&sink->raw) < records.size)
        yarn_dump_sink_flush(sink);
    yarn_bytes_put(&sink->raw, records.data, records.size);
}
