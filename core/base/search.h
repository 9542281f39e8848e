/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Interpolation search in sorted numbers that are not cached; suitable because addresses of
 * functions are distributed rather evenly. A binary search has a cache miss, often in another page,
 * for nearly each doubling of the table; this one about half as many, and never more than three
 * times the steps of a binary search. If the numbers are not sorted, the result is an arbitrary
 * position.
 *
 * Threads, signals: pure; safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* The number at a position. */
typedef uint64_t (*yarn_search_fn)(const void *numbers, size_t at);

/* How many of the numbers are not greater than `wanted`. Fewer than 2^30 numbers within 2^33. */
size_t yarn_search_position(const void *numbers, size_t count, yarn_search_fn number_at,
                            uint64_t wanted);
