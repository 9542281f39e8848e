/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A hash table from a 64-bit key to a 32-bit number (open addressing, grown by doubling up to a
 * cap): the index of everything that is interned. Key 0 is a key like any other. Memory comes from
 * pages.h. Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

#define YARN_TABLE_NONE UINT32_MAX /* never a value */

struct yarn_table_slot;

struct yarn_table {
    struct yarn_table_slot *slots; /* owned; NULL while closed */
    size_t capacity;               /* a power of two */
    size_t count;
    size_t max_capacity;
};

#define YARN_TABLE_CLOSED ((struct yarn_table){NULL, 0, 0, 0})

/* Both are rounded up to powers of two. */
YARN_MUST_CHECK int yarn_table_open(struct yarn_table *table, size_t capacity, size_t max_capacity);

/* YARN_TABLE_NONE where the key is absent, or the table closed. */
uint32_t yarn_table_find(const struct yarn_table *table, uint64_t key);

/* Adds or replaces. -ENOSPC where the cap is reached, -ENOMEM where no memory is available. */
YARN_MUST_CHECK int yarn_table_put(struct yarn_table *table, uint64_t key, uint32_t value);

/* As put, for what may be dropped: opens the table at the first, and leaves out what is above 16
 * million. -ENOMEM. */
YARN_MUST_CHECK int yarn_table_remember(struct yarn_table *table, uint64_t key, uint32_t value);

/* Nothing where the key is absent, or the table closed. */
void yarn_table_remove(struct yarn_table *table, uint64_t key);

/* Removes every key, keeps the memory. */
void yarn_table_clear(struct yarn_table *table);

/* Idempotent. */
void yarn_table_close(struct yarn_table *table);
