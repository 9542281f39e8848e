/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/trace_unpack.h"

#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "output/base/array.h"
#include "output/store/spill.h"

/* Of all that is unpacked into memory, and of one chunk. */
enum { BLOCKS_MAX = 256 << 20, CHUNK_MAX = 64 << 20 };

static struct yarn_span take_packed(struct yarn_cursor *cursor, uint32_t *ret_bytes)
{
    uint32_t packed = yarn_cursor_u32(cursor);
    *ret_bytes = yarn_cursor_u32(cursor);
    return yarn_cursor_span(cursor, packed);
}

static int unpack(struct yarn_trace_file *file, struct yarn_span packed, uint64_t at, void *bytes,
                  size_t size)
{
    uLongf inflated = size;
    bool is_good =
        file->is_deflated
            ? uncompress(bytes, &inflated, packed.data, packed.size) == Z_OK && inflated == size
            : ZSTD_decompress(bytes, size, packed.data, packed.size) == size;
    return is_good ? 0 : yarn_trace_refuse(file, at, "compressed bytes that are not what they say");
}

int yarn_trace_unpack_section(struct yarn_trace_file *file, struct yarn_span packed, uint64_t at,
                              struct yarn_span *ret_data)
{
    struct yarn_cursor cursor = yarn_cursor_of(packed);
    uint32_t size;
    struct yarn_span data = take_packed(&cursor, &size);
    if (cursor.failed || size > BLOCKS_MAX - file->block_bytes)
        return yarn_trace_refuse(file, at, "a compressed section with a size that lies");
    void *block = malloc((size_t)size + 1);
    if (!block || YARN_ARRAY_PUT(&file->blocks, &file->nr_blocks, &file->blocks_capacity, &block)) {
        free(block);
        return -ENOMEM;
    }
    file->block_bytes += size;
    *ret_data = yarn_span_of(block, size);
    return unpack(file, data, at, block, size);
}

struct unpacking {
    struct yarn_spill spill;
    uint8_t *chunk; /* owned */
    size_t chunk_bytes;
};

static int make_room(struct unpacking *unpacking, size_t size)
{
    if (size <= unpacking->chunk_bytes)
        return 0;
    free(unpacking->chunk);
    unpacking->chunk = malloc(size);
    unpacking->chunk_bytes = unpacking->chunk ? size : 0;
    return unpacking->chunk ? 0 : -ENOMEM;
}

static int unpack_chunk(struct yarn_trace_file *file, struct unpacking *unpacking,
                        struct yarn_cursor *cursor, uint64_t core_at)
{
    uint32_t size;
    struct yarn_span data = take_packed(cursor, &size);
    uint64_t at = core_at + cursor->at - data.size;
    if (cursor->failed || size > CHUNK_MAX || size % file->page_bytes)
        return yarn_trace_refuse(file, at, "compressed events with a size that lies");
    int err = make_room(unpacking, size);
    if (!err)
        err = unpack(file, data, at, unpacking->chunk, size);
    return err ? err : yarn_spill_put(&unpacking->spill, yarn_span_of(unpacking->chunk, size));
}

static int unpack_core(struct yarn_trace_file *file, struct yarn_trace_file_core *core,
                       struct unpacking *unpacking)
{
    /* Why not only the pages as stated: their size leaves out the number of chunks. */
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_from(file->bytes, core->at));
    uint32_t count = yarn_cursor_u32(&cursor);
    int err = 0;
    core->unpacked_at = unpacking->spill.size;
    for (uint32_t i = 0; !err && i < count; i++)
        err = unpack_chunk(file, unpacking, &cursor, core->at);
    if (!err && cursor.failed)
        err = yarn_trace_refuse(file, core->at, "compressed events are cut");
    core->size = unpacking->spill.size - core->unpacked_at;
    return err;
}

int yarn_trace_unpack_cores(struct yarn_trace_file *file)
{
    struct unpacking unpacking = {.spill = YARN_SPILL_CLOSED};
    int err = yarn_spill_open(&unpacking.spill);
    for (size_t i = 0; !err && i < file->nr_cores; i++)
        err = unpack_core(file, &file->cores[i], &unpacking);
    if (!err)
        err = yarn_spill_map(&unpacking.spill, &file->unpacked);
    for (size_t i = 0; !err && i < file->nr_cores; i++)
        file->cores[i].pages =
            yarn_span_sub(file->unpacked, file->cores[i].unpacked_at, file->cores[i].size);
    free(unpacking.chunk);
    yarn_spill_close(&unpacking.spill);
    return err;
}
