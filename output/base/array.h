/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Growable arrays of the tool: a pointer, a count and a capacity that the owner keeps in fields of
 * its own. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

/* Room for `need` items (named twice) in the array that *items begins, which may move. -ENOMEM: it
 * is as it was. Mostly there is room, and no call. */
#define YARN_ARRAY_RESERVE(items, capacity, need)                                                  \
    ((need) <= *(capacity) && *(items)                                                             \
         ? 0                                                                                       \
         : yarn_array_reserve((items), (capacity), (need), sizeof **(items)))

/* Adds a copy of the item that the last argument points to. */
#define YARN_ARRAY_PUT(items, count, capacity, ...)                                                \
    yarn_array_put((items), (count), (capacity), (__VA_ARGS__),                                    \
                   sizeof **(items) + 0 * sizeof(*(items) == (__VA_ARGS__)))

/* Row `number` of an array of rows by number is there; those that are new are zero. */
#define YARN_ARRAY_EXTEND(items, count, capacity, number)                                          \
    yarn_array_extend((items), (count), (capacity), (number), sizeof **(items))

/* Why void: `items` points to a pointer of any type. */
YARN_MUST_CHECK int yarn_array_reserve(void *items, size_t *capacity, size_t need,
                                       size_t item_bytes);
YARN_MUST_CHECK int yarn_array_extend(void *items, size_t *count, size_t *capacity, size_t number,
                                      size_t item_bytes);
YARN_MUST_CHECK int yarn_array_put(void *items, size_t *count, size_t *capacity, const void *item,
                                   size_t item_bytes);

typedef bool yarn_array_before_fn(const void *self, const void *one, const void *other);

/* Brings `count` items into order; equal ones keep theirs. *items may move. -ENOMEM. */
#define YARN_ARRAY_SORT(items, capacity, count, before, self)                                      \
    yarn_array_sort((items), (capacity), (count), sizeof **(items), (before), (self))
YARN_MUST_CHECK int yarn_array_sort(void *items, size_t *capacity, size_t count, size_t item_bytes,
                                    yarn_array_before_fn *before, const void *self);

/* How many items of a sorted array begin with a number that is `key` or less. */
#define YARN_ARRAY_UP_TO(items, count, key) yarn_array_up_to((items), (count), sizeof *(items), key)
size_t yarn_array_up_to(const void *items, size_t count, size_t item_bytes, uint64_t key);
