/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/array.h"

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
