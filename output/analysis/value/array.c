/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/array.h"

#include <stdlib.h>

void *yarn_array_grow(void *items, size_t *capacity, size_t need, size_t item_bytes)
{
    if (need <= *capacity && items)
        return items;
    size_t grown = *capacity < 16 ? 16 : *capacity + *capacity / 2;
    if (grown < need)
        grown = need;
    void *moved = reallocarray(items, grown, item_bytes);
    if (moved)
        *capacity = grown;
    return moved;
}
