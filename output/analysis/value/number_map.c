/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/number_map.h"

#include <stdlib.h>

#include "output/base/array.h"

enum { NUMBER_MAX = 1 << 28 };

int yarn_number_map_put(struct yarn_number_map *map, uint32_t number, uint32_t to)
{
    if (number >= NUMBER_MAX)
        return -E2BIG;
    if (number >= map->count) {
        if (YARN_ARRAY_RESERVE(&map->to, &map->capacity, (size_t)number + 1))
            return -ENOMEM;
        while (map->count <= number)
            map->to[map->count++] = YARN_NUMBER_NONE;
    }
    map->to[number] = to;
    return 0;
}

void yarn_number_map_clear(struct yarn_number_map *map)
{
    map->count = 0;
}

void yarn_number_map_fini(struct yarn_number_map *map)
{
    free(map->to);
    *map = (struct yarn_number_map){0};
}
