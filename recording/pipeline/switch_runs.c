/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/switch_runs.h"

#include "core/base/pages.h"
#include "core/base/sort.h"

enum {
    THREADS = 16384, /* at once; of two in one slot the later is followed */
    KEPT_MAX = 4096,
    KEPT_MANY = KEPT_MAX / 2,
    CPUS_MAX = 1024,
    SAME_NS = 2000, /* less than it takes to leave a core and to come back */
};

struct slot {
    uint32_t tid; /* 0: of none */
    uint32_t cpu;
    uint64_t since_ns; /* it came onto the core, or left it */
    bool is_running;
    bool is_over; /* it has ended, and leaves its core for the last time perhaps later */
    uint32_t use; /* in which that was (struct yarn_switch_runs) */
};

struct yarn_switch_runs {
    bool are_late;
    bool has_lost;     /* records since the start: births, too, perhaps */
    uint64_t start_ns; /* UINT64_MAX: no records are written */
    uint32_t use; /* of the memory, by one process after the other: others' slots are of none */
    size_t count;
    struct yarn_dump_run kept[KEPT_MAX];
    struct yarn_dump_run sorted[KEPT_MAX];
    uint64_t keys[KEPT_MAX];
    uint32_t nr_cpus;
    uint32_t last_on[CPUS_MAX]; /* the thread that came onto the core last */
    struct slot slots[THREADS];
};

struct yarn_switch_runs *yarn_switch_runs_new(bool are_late)
{
    struct yarn_switch_runs *runs = yarn_pages_map(sizeof *runs);
    if (!runs)
        return NULL;
    runs->start_ns = UINT64_MAX;
    runs->are_late = are_late;
    return runs;
}

void yarn_switch_runs_renew(struct yarn_switch_runs *runs, bool are_late)
{
    runs->use++;
    runs->are_late = are_late;
    runs->has_lost = false;
    runs->start_ns = UINT64_MAX;
    runs->count = 0;
    runs->nr_cpus = 0;
    memset(runs->last_on, 0, sizeof runs->last_on);
}

void yarn_switch_runs_free(struct yarn_switch_runs *runs)
{
    yarn_pages_unmap(runs, sizeof *runs);
}

void yarn_switch_runs_start(struct yarn_switch_runs *runs, uint64_t time_ns)
{
    runs->start_ns = time_ns;
    runs->has_lost = false;
}

static void keep(struct yarn_switch_runs *runs, const struct slot *slot, uint64_t end_ns,
                 bool is_preempted, bool is_open)
{
    if (runs->count == KEPT_MAX) /* there can be no dump */
        return;
    runs->kept[runs->count++] = (struct yarn_dump_run){
        .time_ns = slot->since_ns,
        .length_ns = yarn_u64_minus(end_ns, slot->since_ns),
        .tid = slot->tid,
        .cpu = slot->cpu,
        .is_preempted = is_preempted,
        .is_open = is_open,
    };
}

/* Of another thread, or of none, where nothing is known of this one. */
static struct slot *slot_of(struct yarn_switch_runs *runs, uint32_t tid)
{
    struct slot *slot = &runs->slots[tid % THREADS];
    if (slot->since_ns < runs->start_ns || slot->use != runs->use)
        slot->tid = 0;
    return slot;
}

/* The same switch, reported by a second event of the thread while events are being replaced. */
static bool is_again(const struct slot *slot, const struct yarn_typed_record *record)
{
    return slot->tid == record->perf.tid && slot->cpu == record->perf.cpu &&
           slot->is_running == !record->switched.is_out &&
           record->perf.time < slot->since_ns + SAME_NS;
}

/* Events of whole cores see a thread beyond its end. Where records were lost its number may be
 * another's by now. */
static bool is_of_the_dead(const struct yarn_switch_runs *runs, const struct slot *slot,
                           const struct yarn_typed_record *record)
{
    return slot->is_over && slot->tid == record->perf.tid && !runs->has_lost;
}

/* A record is missing in between: nothing is known since the last. */
static void leave_open(struct yarn_switch_runs *runs, const struct slot *slot)
{
    keep(runs, slot, slot->since_ns, false, true);
}

static void begin_run(struct yarn_switch_runs *runs, struct slot *slot,
                      const struct yarn_record *record, uint64_t since_ns)
{
    *slot = (struct slot){record->tid, record->cpu, since_ns, true, false, runs->use};
    if (record->cpu < CPUS_MAX) {
        runs->last_on[record->cpu] = record->tid;
        runs->nr_cpus = record->cpu < runs->nr_cpus ? runs->nr_cpus : record->cpu + 1;
    }
}

static void come_in(struct yarn_switch_runs *runs, const struct yarn_typed_record *record)
{
    struct slot *slot = slot_of(runs, record->perf.tid);
    if (slot->tid && slot->is_running)
        leave_open(runs, slot);
    begin_run(runs, slot, &record->perf, record->perf.time);
}

void yarn_switch_runs_on_run(struct yarn_switch_runs *runs, const struct yarn_typed_record *record)
{
    struct slot *slot = slot_of(runs, record->perf.tid);
    bool is_known = !runs->are_late && !runs->has_lost;
    if (!slot->tid && runs->start_ns < record->perf.time)
        begin_run(runs, slot, &record->perf, is_known ? runs->start_ns : record->perf.time);
}

/* It leaves without having come: it has run since records were written, or one is missing. Where
 * some were lost it may just have been born. */
static void find_begin(struct yarn_switch_runs *runs, struct slot *slot,
                       const struct yarn_typed_record *record)
{
    const struct slot before = {record->perf.tid, record->perf.cpu, runs->start_ns, false, false,
                                runs->use};
    bool is_first = slot->tid != record->perf.tid;
    bool is_known = !runs->are_late && !runs->has_lost;
    if (is_first && !slot->tid && is_known && runs->start_ns < record->perf.time) {
        *slot = before;
        return;
    }
    if (!is_first || !runs->has_lost)
        leave_open(runs, is_first ? &before : slot);
    *slot = (struct slot){record->perf.tid, record->perf.cpu, record->perf.time, false, false,
                          runs->use};
}

static void go_out(struct yarn_switch_runs *runs, const struct yarn_typed_record *record)
{
    struct slot *slot = slot_of(runs, record->perf.tid);
    if (slot->tid != record->perf.tid || !slot->is_running)
        find_begin(runs, slot, record);
    keep(runs, slot, record->perf.time, record->switched.is_preempted, false);
    *slot = (struct slot){record->perf.tid, record->perf.cpu, record->perf.time, false, false,
                          runs->use};
}

bool yarn_switch_runs_on_switch(struct yarn_switch_runs *runs,
                                const struct yarn_typed_record *record)
{
    struct slot *slot = slot_of(runs, record->perf.tid);
    if (record->perf.time < runs->start_ns || is_again(slot, record) ||
        is_of_the_dead(runs, slot, record))
        return false;
    if (slot->is_over)
        slot->tid = 0;
    if (record->switched.is_out)
        go_out(runs, record);
    else
        come_in(runs, record);
    return runs->count >= KEPT_MANY;
}

void yarn_switch_runs_on_birth(struct yarn_switch_runs *runs, uint32_t tid, uint64_t time_ns)
{
    struct slot *slot = slot_of(runs, tid);
    if (slot->is_over)
        slot->tid = 0;
    if (!runs->are_late || runs->start_ns == UINT64_MAX)
        return;
    *slot = (struct slot){tid, 0, time_ns, false, false, runs->use};
    leave_open(runs, slot);
}

void yarn_switch_runs_on_lost(struct yarn_switch_runs *runs)
{
    runs->has_lost = true;
    for (uint32_t cpu = 0; cpu < runs->nr_cpus; cpu++) {
        struct slot *slot = slot_of(runs, runs->last_on[cpu]);
        if (!slot->tid || slot->tid != runs->last_on[cpu] || !slot->is_running)
            continue;
        leave_open(runs, slot);
        slot->is_running = false;
    }
}

void yarn_switch_runs_on_exit(struct yarn_switch_runs *runs, uint32_t tid, uint64_t time_ns)
{
    struct slot *slot = slot_of(runs, tid);
    if (slot->tid != tid)
        return;
    if (slot->is_running)
        keep(runs, slot, time_ns, false, true);
    *slot = (struct slot){tid, slot->cpu, time_ns, false, true, runs->use};
}

void yarn_switch_runs_divide(struct yarn_switch_runs *runs, uint64_t time_ns)
{
    for (uint32_t cpu = 0; cpu < runs->nr_cpus; cpu++) {
        uint32_t tid = runs->last_on[cpu];
        struct slot *slot = slot_of(runs, tid);
        if (!tid || slot->tid != tid || !slot->is_running || slot->cpu != cpu ||
            slot->since_ns >= time_ns)
            continue;
        keep(runs, slot, time_ns, false, true);
        slot->since_ns = time_ns;
    }
}

void yarn_switch_runs_stop(struct yarn_switch_runs *runs, uint64_t time_ns)
{
    yarn_switch_runs_divide(runs, time_ns);
    runs->start_ns = UINT64_MAX;
}

/* By their starts, which the columns take the differences of. */
static void sort(struct yarn_switch_runs *runs)
{
    uint64_t first_ns = UINT64_MAX;
    for (size_t i = 0; i < runs->count; i++)
        first_ns = yarn_u64_min(first_ns, runs->kept[i].time_ns);
    for (size_t i = 0; i < runs->count; i++)
        runs->keys[i] = (runs->kept[i].time_ns - first_ns) * KEPT_MAX + i;
    yarn_sort_u64(runs->keys, runs->count);
    for (size_t i = 0; i < runs->count; i++)
        runs->sorted[i] = runs->kept[runs->keys[i] % KEPT_MAX];
}

void yarn_switch_runs_write(struct yarn_switch_runs *runs, struct yarn_dump_writer *writer)
{
    if (!runs->count)
        return;
    sort(runs);
    yarn_dump_write_runs(writer, runs->sorted, runs->count);
    runs->count = 0;
}
