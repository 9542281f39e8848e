/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Search in sorted numbers that lie in memory which has left the caches: by proportion, as
 * addresses of functions lie rather evenly. A search by halves touches a cold cache line, and a
 * cold page, for nearly each doubling of the table; this one about half as many. Never more than
 * three times the steps of halving, whatever the numbers; where they are not sorted, the answer is
 * some place. A guide is every 32nd number in memory of our own, where there are many: with it a
 * search touches some lines that it touches each time, and one or two of the table.
 *
 * Threads, signals: pure, but for the opening and closing of guides; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* The number at a place. */
typedef uint64_t (*yarn_search_fn)(const void *numbers, size_t at);

/* How many of the numbers are not greater than `wanted`. Fewer than 2^30 numbers within 2^33. */
size_t yarn_search_position(const void *numbers, size_t count, yarn_search_fn number_at,
                            uint64_t wanted);

struct yarn_search_guide {
    uint64_t *numbers; /* owned; NULL where there are too few to need it, or no memory */
    size_t count;
};

#define YARN_SEARCH_GUIDE_NONE ((struct yarn_search_guide){NULL, 0})

struct yarn_search_guide yarn_search_guide_of(const void *numbers, size_t count,
                                              yarn_search_fn number_at);

/* As yarn_search_position, by the guide of the same numbers. */
size_t yarn_search_guided(const struct yarn_search_guide *guide, const void *numbers, size_t count,
                          yarn_search_fn number_at, uint64_t wanted);

/* Idempotent. */
void yarn_search_guide_close(struct yarn_search_guide *guide);
