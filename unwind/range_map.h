/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of addresses that do not overlap, in order, each with a number: a newer range replaces
 * the older ones below it, which are dropped, trimmed or split. Knows no modules.
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_mapped_range {
    uint64_t start, end;
    uint32_t number;
};

struct yarn_range_map {
    struct yarn_mapped_range *items; /* owned; in order */
    size_t count, capacity, max_count;
    size_t last; /* where the last look-up ended: the next is often there too */
};

/* An all-zero value with max_count set is open and empty. */
#define YARN_RANGE_MAP_EMPTY(most) ((struct yarn_range_map){.max_count = (most)})

/* -ENOSPC or -ENOMEM leave the ranges as they were. */
YARN_MUST_CHECK int yarn_range_map_put(struct yarn_range_map *ranges,
                                       struct yarn_mapped_range range);

/* Removes [start, end). */
YARN_MUST_CHECK int yarn_range_map_cut(struct yarn_range_map *ranges, uint64_t start, uint64_t end);

/* The range that holds the address, valid until the next change; NULL where none does. */
const struct yarn_mapped_range *yarn_range_map_find(struct yarn_range_map *ranges,
                                                    uint64_t address);

/* The position of the first range that ends after the address; `count` where none does. */
size_t yarn_range_map_position(const struct yarn_range_map *ranges, uint64_t address);

/* Idempotent. */
void yarn_range_map_close(struct yarn_range_map *ranges);
