/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/stack_bounds.h"

/* As many as a process may have mappings (vm.max_map_count). */
enum { RANGES_MAX = 65536, TRIES_MAX = 4 };

#define TABLE_BYTES (RANGES_MAX * sizeof(struct yarn_stack_bounds_range))

void yarn_stack_bounds_open(struct yarn_stack_bounds *bounds)
{
    atomic_store(&bounds->generation, 0);
    for (int i = 0; i < 2; i++) {
        struct yarn_stack_bounds_table *table = &bounds->table[i];
        atomic_store(&table->count, 0);
        table->ranges = NULL;
        yarn_room_open(&table->room, TABLE_BYTES);
    }
}

void yarn_stack_bounds_close(struct yarn_stack_bounds *bounds)
{
    for (int i = 0; i < 2; i++) {
        yarn_room_close(&bounds->table[i].room);
        bounds->table[i].ranges = NULL;
        atomic_store(&bounds->table[i].count, 0);
    }
}

static struct yarn_stack_bounds_table *next_table(struct yarn_stack_bounds *bounds)
{
    return &bounds->table[(atomic_load(&bounds->generation) + 1) & 1];
}

void yarn_stack_bounds_begin(struct yarn_stack_bounds *bounds)
{
    bounds->nr_new = 0;
}

void yarn_stack_bounds_add(struct yarn_stack_bounds *bounds, uint64_t start, uint64_t end)
{
    struct yarn_stack_bounds_table *table = next_table(bounds);
    struct yarn_stack_bounds_range *range;
    if (bounds->nr_new == RANGES_MAX ||
        !yarn_room_back(&table->room, (bounds->nr_new + 1) * sizeof *range))
        return;
    if (!table->ranges)
        table->ranges = (struct yarn_stack_bounds_range *)table->room.base;
    range = table->ranges + bounds->nr_new;
    /* Release, for a look-up that was overtaken: a reader that sees one of these words sees the
     * generation that had passed before it was written. */
    atomic_store_explicit(&range->start, start, memory_order_release);
    atomic_store_explicit(&range->end, end, memory_order_release);
    bounds->nr_new++;
}

void yarn_stack_bounds_end(struct yarn_stack_bounds *bounds)
{
    atomic_store(&next_table(bounds)->count, bounds->nr_new);
    atomic_fetch_add(&bounds->generation, 1);
}

static uint64_t find_in(const struct yarn_stack_bounds_table *table, uint64_t address)
{
    size_t low = 0, high = atomic_load(&table->count);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct yarn_stack_bounds_range *range = &table->ranges[middle];
        uint64_t end = atomic_load_explicit(&range->end, memory_order_acquire);
        if (address >= end)
            low = middle + 1;
        else if (address < atomic_load_explicit(&range->start, memory_order_acquire))
            high = middle;
        else
            return end;
    }
    return 0;
}

uint64_t yarn_stack_bounds_find(const struct yarn_stack_bounds *bounds, uint64_t address)
{
    for (int i = 0; i < TRIES_MAX; i++) {
        uint32_t generation = atomic_load(&bounds->generation);
        uint64_t end = find_in(&bounds->table[generation & 1], address);
        if (atomic_load(&bounds->generation) == generation)
            return end;
    }
    return 0;
}
