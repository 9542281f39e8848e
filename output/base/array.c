/* SPDX-License-Identifier: Apache-2.0 */
#include "output/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int yarn_array_reserve(void *items, size_t *capacity, size_t need, size_t item_bytes)
{
    void *begin;
    memcpy(&begin, items, sizeof begin);
    if (need <= *capacity && begin)
        return 0;
    size_t grown = *capacity < 16 ? 16 : *capacity + *capacity / 2;
    if (grown < need)
        grown = need;
    begin = reallocarray(begin, grown, item_bytes);
    if (!begin)
        return -ENOMEM;
    memcpy(items, &begin, sizeof begin);
    *capacity = grown;
    return 0;
}

int yarn_array_extend(void *items, size_t *count, size_t *capacity, size_t number,
                      size_t item_bytes)
{
    char *begin;
    int err = yarn_array_reserve(items, capacity, number + 1, item_bytes);
    if (err || number < *count)
        return err;
    memcpy(&begin, items, sizeof begin);
    memset(begin + *count * item_bytes, 0, (number + 1 - *count) * item_bytes);
    *count = number + 1;
    return 0;
}

int yarn_array_put(void *items, size_t *count, size_t *capacity, const void *item,
                   size_t item_bytes)
{
    char *begin;
    int err = yarn_array_reserve(items, capacity, *count + 1, item_bytes);
    if (err)
        return err;
    memcpy(&begin, items, sizeof begin);
    memcpy(begin + (*count)++ * item_bytes, item, item_bytes);
    return 0;
}

struct sorting {
    size_t item_bytes;
    yarn_array_before_fn *is_before;
    const void *self;
};

static bool is_before(const struct sorting *sorting, const char *items, size_t one, size_t other)
{
    return sorting->is_before(sorting->self, items + one * sorting->item_bytes,
                              items + other * sorting->item_bytes);
}

static size_t end_of_run(const struct sorting *sorting, const char *items, size_t at, size_t count)
{
    size_t end = at + 1;
    while (end < count && !is_before(sorting, items, end, end - 1))
        end++;
    return end;
}

/* Merges from[at, middle) and from[middle, end) into `to`; the first goes first among equals. */
static void merge(const struct sorting *sorting, const char *from, char *to, size_t at,
                  size_t middle, size_t end)
{
    const size_t bytes = sorting->item_bytes;
    size_t left = at, right = middle;
    for (; at < end; at++) {
        bool is_right = left == middle || (right < end && is_before(sorting, from, right, left));
        memcpy(to + at * bytes, from + (is_right ? right++ : left++) * bytes, bytes);
    }
}

/* Merges each two runs of `from`; true: one is left. */
static bool merge_runs(const struct sorting *sorting, const char *from, char *to, size_t count)
{
    bool is_one = true;
    for (size_t at = 0; at < count;) {
        size_t middle = end_of_run(sorting, from, at, count);
        size_t end = middle < count ? end_of_run(sorting, from, middle, count) : middle;
        merge(sorting, from, to, at, middle, end);
        is_one &= at == 0 && end == count;
        at = end;
    }
    return is_one;
}

/* A natural merge sort: what is in order costs one pass, and runs of it (cores of a trace, dumps)
 * one for each doubling of their number. */
int yarn_array_sort(void *items, size_t *capacity, size_t count, size_t item_bytes,
                    yarn_array_before_fn *before, const void *self)
{
    const struct sorting sorting = {item_bytes, before, self};
    char *from;
    memcpy(&from, items, sizeof from);
    if (count < 2 || end_of_run(&sorting, from, 0, count) == count)
        return 0;
    char *to = reallocarray(NULL, count, item_bytes);
    if (!to)
        return -ENOMEM;
    bool is_one = false;
    while (!is_one) {
        is_one = merge_runs(&sorting, from, to, count);
        char *merged = to;
        to = from;
        from = merged;
    }
    free(to);
    memcpy(items, &from, sizeof from);
    *capacity = count;
    return 0;
}

size_t yarn_array_up_to(const void *items, size_t count, size_t item_bytes, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t number;
        memcpy(&number, (const char *)items + middle * item_bytes, sizeof number);
        if (number <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
