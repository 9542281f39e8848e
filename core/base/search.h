/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Search in sorted numbers that lie in memory which has left the caches: by proportion, as
 * addresses of functions lie rather evenly. A search by halves touches a cold cache line, and a
 * cold page, for nearly each doubling of the table; this one about half as many. Never more than
 * three times the steps of halving, whatever the numbers; where they are not sorted, the answer is
 * some place.
 *
 * Threads, signals: pure; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* The number at a place. */
typedef uint64_t (*yarn_search_fn)(const void *numbers, size_t at);

/* How many of the numbers are not greater than `wanted`. Fewer than 2^30 numbers within 2^33. */
size_t yarn_search_position(const void *numbers, size_t count, yarn_search_fn number_at,
                            uint64_t wanted);
