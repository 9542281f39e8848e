/* SPDX-License-Identifier: Apache-2.0 */
#include "core/session/mappings.h"

#include "core/sys/clock.h"
#include "core/sys/file.h"
#include "core/sys/proc_maps.h"

enum {
    KNOWN_FIRST = 256,
    KNOWN_MAX = 65536,
    COST_SHARE = 100,       /* looking costs at most this part of the time */
    COST_SHARE_NEEDED = 50, /* … where it is needed */
};

struct scan {
    struct yarn_mappings *mappings;
    const struct yarn_record_listener *listener; /* NULL: none */
    uint64_t time_ns;
    uint64_t end_before; /* of the mapping before this one */
};

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

static void report(const struct scan *scan, const struct yarn_proc_map *map)
{
    struct yarn_record_mmap *mmap = scan->mappings->room;
    struct yarn_typed_record record = {
        .type = YARN_RECORD_MMAP,
        .perf = {.type = PERF_RECORD_MMAP2,
                 .pid = (uint32_t)scan->mappings->pid,
                 .tid = (uint32_t)scan->mappings->pid,
                 .time = scan->time_ns},
        .mmap = mmap,
    };
    struct yarn_span path = map->path.size ? map->path : yarn_span_of_text("//anon");
    size_t length = yarn_size_min(path.size, sizeof mmap->path - 1);
    mmap->pid = mmap->tid = record.perf.pid;
    mmap->start = map->start;
    mmap->size = map->end - map->start;
    mmap->file_offset = map->file_offset;
    mmap->device = map->device;
    mmap->inode = map->inode;
    mmap->protection = 4; /* PROT_EXEC */
    memcpy(mmap->path, path.data, length);
    mmap->path[length] = 0;
    scan->listener->record(scan->listener->self, &record);
}

static uint64_t key_of(const struct yarn_proc_map *map)
{
    uint64_t key = yarn_hash_u64(map->start);
    key = yarn_hash_u64(key ^ map->end);
    key = yarn_hash_u64(key ^ map->file_offset);
    key = yarn_hash_u64(key ^ map->inode);
    return yarn_hash_u64(key ^ map->device);
}

static void meet_code(const struct scan *scan, const struct yarn_proc_map *map)
{
    struct yarn_mappings *mappings = scan->mappings;
    uint64_t key = key_of(map);
    uint32_t seen = yarn_table_find(&mappings->known, key);
    if (scan->listener && seen != mappings->nr_scans - 1)
        report(scan, map);
    if (yarn_table_put(&mappings->known, key, mappings->nr_scans))
        yarn_table_clear(
            &mappings->known); /* full of what is long gone: all are reported once more */
}

static int meet(void *context, const struct yarn_proc_map *map)
{
    struct scan *scan = context;
    uint64_t start = map->start;
    if (map->executable)
        meet_code(scan, map);
    /* It grows down until it meets another. */
    if (yarn_span_equal(map->path, yarn_span_of_text("[stack]")))
        start = yarn_u64_max(scan->end_before, 1);
    if (map->writable && map->readable)
        yarn_stack_bounds_add(&scan->mappings->bounds, start, map->end);
    scan->end_before = map->end;
    return 0;
}

static int scan_all(struct yarn_mappings *mappings, const struct yarn_record_listener *listener)
{
    struct scan scan = {
        .mappings = mappings,
        .listener = listener,
        .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
    };
    mappings->nr_scans++;
    yarn_stack_bounds_begin(&mappings->bounds);
    int err = yarn_proc_maps_read(YARN_FILE_CWD, "/proc/self/maps", meet, &scan);
    if (!err)
        yarn_stack_bounds_end(&mappings->bounds);
    return err;
}

int yarn_mappings_open(struct yarn_mappings *mappings, pid_t pid, struct yarn_record_mmap *room)
{
    *mappings = (struct yarn_mappings){.pid = pid, .room = room};
    yarn_stack_bounds_open(&mappings->bounds);
    int err = yarn_table_open(&mappings->known, KNOWN_FIRST, KNOWN_MAX);
    if (!err)
        err = scan_all(mappings, NULL);
    if (err)
        yarn_mappings_close(mappings);
    return err;
}

bool yarn_mappings_refresh(struct yarn_mappings *mappings, enum yarn_mappings_need need,
                           uint64_t interval_ns, const struct yarn_record_listener *listener)
{
    uint64_t begin_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    uint64_t due_ns = need == YARN_MAPPINGS_USUAL    ? mappings->next_ns
                      : need == YARN_MAPPINGS_NEEDED ? mappings->soonest_ns
                                                     : 0;
    /* Where it cannot be read, the old table stays. */
    if (yarn_clock_ns(YARN_TIME_MONOTONIC) < due_ns || scan_all(mappings, listener))
        return false;
    uint64_t cost_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) - begin_ns;
    uint64_t end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    mappings->next_ns = end_ns + yarn_u64_max(interval_ns, cost_ns * COST_SHARE);
    mappings->soonest_ns = end_ns + cost_ns * COST_SHARE_NEEDED;
    return true;
}

void yarn_mappings_close(struct yarn_mappings *mappings)
{
    yarn_stack_bounds_close(&mappings->bounds);
    yarn_table_close(&mappings->known);
}
