/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/ranges.h"

#include <stdlib.h>

#include "output/base/array.h"

int yarn_ranges_add(struct yarn_ranges *ranges, uint64_t start, uint64_t end, uint32_t what)
{
    if (!start || end <= start)
        return 0;
    return YARN_ARRAY_PUT(&ranges->ranges, &ranges->count, &ranges->capacity,
                          &(struct yarn_range){.start = start, .end = end, .what = what});
}

/* Among equals the one that was added first comes last, where the search begins. */
static int by_start(const void *a, const void *b)
{
    const struct yarn_range *one = a, *other = b;
    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    return one->what > other->what ? -1 : one->what < other->what;
}

void yarn_ranges_sort(struct yarn_ranges *ranges)
{
    uint64_t reach = 0;
    if (ranges->count)
        qsort(ranges->ranges, ranges->count, sizeof *ranges->ranges, by_start);
    for (size_t i = 0; i < ranges->count; i++) {
        reach = yarn_u64_max(reach, ranges->ranges[i].end);
        ranges->ranges[i].reach = reach;
    }
}

uint32_t yarn_ranges_find(const struct yarn_ranges *ranges, uint64_t address)
{
    for (size_t i = YARN_ARRAY_UP_TO(ranges->ranges, ranges->count, address); i-- > 0;) {
        const struct yarn_range *range = &ranges->ranges[i];
        if (address < range->end)
            return range->what;
        if (address >= range->reach)
            break;
    }
    return YARN_RANGES_NONE;
}

void yarn_ranges_fini(struct yarn_ranges *ranges)
{
    free(ranges->ranges);
    *ranges = (struct yarn_ranges){0};
}
