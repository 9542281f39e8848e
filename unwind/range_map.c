/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/range_map.h"

#include "core/base/pages.h"

enum { FIRST_CAPACITY = 512 };

static int grow(struct yarn_range_map *ranges)
{
    size_t capacity = ranges->capacity ? ranges->capacity * 2 : FIRST_CAPACITY;
    struct yarn_mapped_range *items = yarn_pages_map(capacity * sizeof *items);
    if (!items)
        return -ENOMEM;
    if (ranges->count)
        memcpy(items, ranges->items, ranges->count * sizeof *items);
    if (ranges->items)
        yarn_pages_unmap(ranges->items, ranges->capacity * sizeof *items);
    ranges->items = items;
    ranges->capacity = capacity;
    return 0;
}

static int make_room(struct yarn_range_map *ranges, size_t more)
{
    if (ranges->count + more > ranges->max_count)
        return -ENOSPC;
    return ranges->count + more > ranges->capacity ? grow(ranges) : 0;
}

static void insert_at(struct yarn_range_map *ranges, size_t at, struct yarn_mapped_range range)
{
    struct yarn_mapped_range *item = &ranges->items[at];
    memmove(item + 1, item, (ranges->count - at) * sizeof *item);
    *item = range;
    ranges->count++;
}

static void remove_at(struct yarn_range_map *ranges, size_t at, size_t count)
{
    struct yarn_mapped_range *item = &ranges->items[at];
    memmove(item, item + count, (ranges->count - at - count) * sizeof *item);
    ranges->count -= count;
}

size_t yarn_range_map_position(const struct yarn_range_map *ranges, uint64_t address)
{
    size_t low = 0, high = ranges->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->items[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* With room for one more; the position where a range that starts at `start` belongs. */
static size_t take_away(struct yarn_range_map *ranges, uint64_t start, uint64_t end)
{
    size_t at = yarn_range_map_position(ranges, start);
    if (at < ranges->count && ranges->items[at].start < start) {
        struct yarn_mapped_range rest = ranges->items[at];
        ranges->items[at].end = start;
        at++;
        if (rest.end > end) {
            rest.start = end;
            insert_at(ranges, at, rest);
            return at;
        }
    }
    size_t last = at;
    while (last < ranges->count && ranges->items[last].end <= end)
        last++;
    remove_at(ranges, at, last - at);
    if (at < ranges->count && ranges->items[at].start < end)
        ranges->items[at].start = end;
    return at;
}

int yarn_range_map_put(struct yarn_range_map *ranges, struct yarn_mapped_range range)
{
    if (range.start >= range.end)
        return -EINVAL;
    int err = make_room(ranges, 2);
    if (err)
        return err;
    insert_at(ranges, take_away(ranges, range.start, range.end), range);
    return 0;
}

int yarn_range_map_cut(struct yarn_range_map *ranges, uint64_t start, uint64_t end)
{
    if (start >= end)
        return -EINVAL;
    int err = make_room(ranges, 1);
    if (err)
        return err;
    take_away(ranges, start, end);
    return 0;
}

static bool holds(const struct yarn_range_map *ranges, size_t at, uint64_t address)
{
    return at < ranges->count && ranges->items[at].start <= address &&
           address < ranges->items[at].end;
}

const struct yarn_mapped_range *yarn_range_map_find(struct yarn_range_map *ranges, uint64_t address)
{
    if (!holds(ranges, ranges->last, address)) {
        size_t at = yarn_range_map_position(ranges, address);
        if (!holds(ranges, at, address))
            return NULL;
        ranges->last = at;
    }
    return &ranges->items[ranges->last];
}

void yarn_range_map_close(struct yarn_range_map *ranges)
{
    if (ranges->items)
        yarn_pages_unmap(ranges->items, ranges->capacity * sizeof *ranges->items);
    *ranges = YARN_RANGE_MAP_EMPTY(ranges->max_count);
}
