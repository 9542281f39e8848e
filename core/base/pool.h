/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Items of one size, numbered from 0 in order of addition, at addresses that never move: a growing
 * array in chunks of pages. Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_POOL_CHUNKS_MAX = 1024 };

struct yarn_pool {
    size_t item_size;
    uint32_t count, max_count;
    uint8_t *chunks[YARN_POOL_CHUNKS_MAX]; /* owned */
};

/* *pool is all zeros, that is closed. Takes no memory yet. At most `max_count` items, or fewer
 * where they do not fit into YARN_POOL_CHUNKS_MAX chunks. */
void yarn_pool_open(struct yarn_pool *pool, size_t item_size, uint32_t max_count);

/* A new item of zeros, its number count - 1. NULL where the bound or the memory is reached. */
void *yarn_pool_add(struct yarn_pool *pool);

/* NULL where there is no such item. */
void *yarn_pool_at(const struct yarn_pool *pool, uint32_t number);

/* Idempotent. */
void yarn_pool_close(struct yarn_pool *pool);
