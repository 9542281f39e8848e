/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * An array that grows by doubling, for readers that are also part of libyarn. Threads: one owner.
 */
#pragma once

#include <stdlib.h>

#include "core/base/base.h"

/* Room for one more; -ENOMEM leaves all as it was. */
#define YARN_GROWN_RESERVE(items, count, capacity)                                                 \
    yarn_grown_reserve((items), (count), (capacity), sizeof **(items))

/* Why void: `items` points to a pointer of any type. */
static inline int yarn_grown_reserve(void *items, size_t count, size_t *capacity, size_t item_bytes)
{
    void *old, *grown;
    if (count < *capacity)
        return 0;
    size_t room = *capacity ? 2 * *capacity : 16;
    memcpy(&old, items, sizeof old);
    if (room > SIZE_MAX / 2 / item_bytes)
        return -ENOMEM;
    grown = realloc(old, room * item_bytes);
    if (!grown)
        return -ENOMEM;
    memcpy(items, &grown, sizeof grown);
    *capacity = room;
    return 0;
}
