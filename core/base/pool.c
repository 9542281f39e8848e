/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/pool.h"

#include "core/base/pages.h"

enum { CHUNK_BYTES = 16 << 10 };

/* Items that are bigger than a chunk have one each. */
static uint32_t items_per_chunk(const struct yarn_pool *pool)
{
    return (uint32_t)yarn_size_max(1, CHUNK_BYTES / pool->item_size);
}

static size_t chunk_bytes(const struct yarn_pool *pool)
{
    return items_per_chunk(pool) * pool->item_size;
}

void yarn_pool_open(struct yarn_pool *pool, size_t item_size, uint32_t max_count)
{
    pool->item_size = yarn_align_up(item_size, alignof(max_align_t));
    uint64_t most = (uint64_t)items_per_chunk(pool) * YARN_POOL_CHUNKS_MAX;
    pool->max_count = (uint32_t)yarn_u64_min(max_count, most);
}

void *yarn_pool_add(struct yarn_pool *pool)
{
    if (pool->count >= pool->max_count)
        return NULL;
    uint8_t **chunk = &pool->chunks[pool->count / items_per_chunk(pool)];
    if (!*chunk)
        *chunk = yarn_pages_map(chunk_bytes(pool));
    if (!*chunk)
        return NULL;
    return yarn_pool_at(pool, pool->count++);
}

void *yarn_pool_at(const struct yarn_pool *pool, uint32_t number)
{
    if (number >= pool->count)
        return NULL;
    uint32_t per_chunk = items_per_chunk(pool);
    return pool->chunks[number / per_chunk] + (size_t)(number % per_chunk) * pool->item_size;
}

void yarn_pool_close(struct yarn_pool *pool)
{
    for (size_t i = 0; i < YARN_POOL_CHUNKS_MAX; i++)
        if (pool->chunks[i])
            yarn_pages_unmap(pool->chunks[i], chunk_bytes(pool));
    memset(pool, 0, sizeof *pool);
}
