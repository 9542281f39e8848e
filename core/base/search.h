/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Interpolation search in sorted numbers that are not cached; suitable because addresses of
 * functions are distributed rather evenly. A binary search has a cache miss, often in another page,
 * for nearly each doubling of the table; this one about half as many, and never more than three
 * times the steps of a binary search. If the numbers are not sorted, the result is an arbitrary
 * position. A sparse index is every 32nd number in memory of our own, where there are many: with it
 * a search touches some lines that it touches each time, and one or two of the table.
 *
 * Threads, signals: pure, but for the opening and closing of indexes; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* The number at a position. */
typedef uint64_t (*yarn_search_fn)(const void *numbers, size_t at);

/* How many of the numbers are not greater than `wanted`. Fewer than 2^30 numbers within 2^33. */
size_t yarn_search_position(const void *numbers, size_t count, yarn_search_fn number_at,
                            uint64_t wanted);

struct yarn_search_index {
    uint64_t *numbers; /* owned; NULL where there are too few to need it, or no memory */
    size_t count;
};

#define YARN_SEARCH_INDEX_NONE ((struct yarn_search_index){NULL, 0})

struct yarn_search_index yarn_search_index_of(const void *numbers, size_t count,
                                              yarn_search_fn number_at);

/* As yarn_search_position, by the sparse index of the same numbers. */
size_t yarn_search_indexed(const struct yarn_search_index *index, const void *numbers, size_t count,
                           yarn_search_fn number_at, uint64_t wanted);

/* Idempotent. */
void yarn_search_index_close(struct yarn_search_index *index);
