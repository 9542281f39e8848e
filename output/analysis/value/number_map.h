/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From the numbers that a dump gives to its things to those of the profile. Dense: dumps count from
 * 0. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

#define YARN_NUMBER_NONE UINT32_MAX

struct yarn_number_map {
    uint32_t *to; /* owned array */
    size_t count;
    size_t capacity;
};

static inline uint32_t yarn_number_map_find(const struct yarn_number_map *map, uint32_t number)
{
    return number < map->count ? map->to[number] : YARN_NUMBER_NONE;
}

/* -E2BIG for a number beyond what the writer uses. */
YARN_MUST_CHECK int yarn_number_map_put(struct yarn_number_map *map, uint32_t number, uint32_t to);
void yarn_number_map_clear(struct yarn_number_map *map);
void yarn_number_map_fini(struct yarn_number_map *map);
