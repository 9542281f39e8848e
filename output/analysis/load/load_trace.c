/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/load_trace.h"

#include <stdlib.h>

#include "output/base/array.h"

enum { TABLE_FIRST = 64, TABLE_MOST = 1 << 24, CORES_MAX = 1 << 16, RAN_OUT = 0xff, ENDED = 0x30 };

/* The thread that came in last on a core. */
struct core {
    bool is_known;
    uint32_t pid;
    uint64_t since_ns;
    uint64_t seen_ns; /* its last entry */
};

struct reading {
    struct yarn_profile *profile;
    struct yarn_stream *stream;
    struct yarn_sched_log *sched;
    uint32_t dump;
    size_t first_life;
    bool has_wakings;
    struct yarn_table lives; /* pid to its last life */
    struct core *cores;      /* owned */
    size_t nr_gaps;          /* that were passed */
};

static int64_t value(const struct reading *reading, const struct yarn_entry *entry,
                     const char *name)
{
    int64_t number;
    return yarn_stream_field_value(reading->stream, entry, name, &number) ? 0 : number;
}

static int begin_life(struct reading *reading, uint32_t pid, uint64_t time_ns)
{
    struct yarn_profile *profile = reading->profile;
    const struct yarn_entry named = {.pid = (int)pid};
    struct yarn_profile_thread thread = {.dump = reading->dump,
                                         .tid = pid,
                                         .last_comm = YARN_COMM_NONE,
                                         .has_record = true,
                                         .start_ns = time_ns};
    const struct yarn_sched_life life = {.birth_ns = time_ns,
                                         .end_ns = time_ns,
                                         .space = reading->dump,
                                         .tid = pid,
                                         .owner = (uint32_t)profile->nr_threads,
                                         .is_recorded = true};
    int err = yarn_strings_intern(&profile->strings,
                                  yarn_span_of_text(yarn_stream_task(reading->stream, &named)),
                                  &thread.comm);
    if (!err)
        err = YARN_ARRAY_PUT(&profile->threads, &profile->nr_threads, &profile->threads_capacity,
                             &thread);
    if (!err)
        err = yarn_table_put(&reading->lives, pid, (uint32_t)reading->sched->nr_lives);
    return err ? err : yarn_sched_log_add_life(reading->sched, &life);
}

/* A thread that has ended and is seen again is another one. */
static int see(struct reading *reading, uint32_t pid, uint64_t time_ns)
{
    uint32_t at = yarn_table_find(&reading->lives, pid);
    if (!pid)
        return 0;
    if (at == YARN_TABLE_NONE || reading->sched->lives[at].has_ended)
        return begin_life(reading, pid, time_ns);
    reading->sched->lives[at].end_ns = time_ns;
    return 0;
}

static int add_span(struct reading *reading, uint32_t pid, const struct yarn_sched_span *span)
{
    return pid ? yarn_sched_log_add_span(reading->sched, reading->dump, pid, span) : 0;
}

static void end_life(struct reading *reading, uint32_t pid)
{
    uint32_t at = yarn_table_find(&reading->lives, pid);
    if (at != YARN_TABLE_NONE)
        reading->sched->lives[at].has_ended = true;
}

/* Of a pid, which was seen. */
static int add_arrival(struct reading *reading, uint32_t cpu, uint64_t time_ns, uint32_t pid)
{
    uint32_t at = pid ? yarn_table_find(&reading->lives, pid) : YARN_TABLE_NONE;
    const struct yarn_sched_arrival arrival = {
        .time_ns = time_ns,
        .cpu = cpu & (CORES_MAX - 1),
        .who = {at == YARN_TABLE_NONE ? UINT32_MAX : reading->sched->lives[at].owner, pid},
    };
    return yarn_sched_cores_add(&reading->sched->cores, &arrival);
}

static int take_switch(struct reading *reading, const struct yarn_entry *entry)
{
    uint32_t prev = (uint32_t)value(reading, entry, "prev_pid");
    uint32_t next = (uint32_t)value(reading, entry, "next_pid");
    int64_t state = value(reading, entry, "prev_state");
    struct core *core = &reading->cores[entry->cpu & (CORES_MAX - 1)];
    bool came_in = core->is_known && core->pid == prev;
    struct yarn_sched_span span = {
        .begin_ns = came_in ? core->since_ns : entry->time_ns,
        .cpu = (uint32_t)entry->cpu & (CORES_MAX - 1),
        .is_preempted = !(state & RAN_OUT),
    };
    span.length_ns = entry->time_ns - span.begin_ns;
    int err = see(reading, prev, entry->time_ns);
    if (!err)
        err = see(reading, next, entry->time_ns);
    if (!err)
        err = add_span(reading, prev, &span);
    if (state & ENDED)
        end_life(reading, prev);
    *core = (struct core){true, next, entry->time_ns, entry->time_ns};
    return err ? err : add_arrival(reading, (uint32_t)entry->cpu, entry->time_ns, next);
}

static int take_waking(struct reading *reading, const struct yarn_entry *entry)
{
    uint32_t woken = (uint32_t)value(reading, entry, "pid");
    int err = see(reading, woken, entry->time_ns);
    reading->has_wakings = true;
    if (!err && entry->pid)
        err = see(reading, (uint32_t)entry->pid, entry->time_ns);
    if (err || !woken)
        return err;
    const struct yarn_sched_waker waker = yarn_sched_waker_of(
        reading->dump, (uint32_t)entry->pid, (uint64_t)value(reading, entry, "common_flags"));
    return yarn_sched_log_add_waking(reading->sched, reading->dump, woken, entry->time_ns, &waker);
}

/* Events were lost: who was on the core may have left it, and who is on it is unknown. */
static int pass_gap(struct reading *reading, uint32_t cpu)
{
    struct core *core = &reading->cores[cpu & (CORES_MAX - 1)];
    const struct yarn_sched_span span = {.begin_ns = core->since_ns,
                                         .length_ns = core->seen_ns - core->since_ns,
                                         .cpu = cpu & (CORES_MAX - 1),
                                         .is_open = true};
    const struct yarn_sched_arrival unknown = {core->seen_ns, cpu & (CORES_MAX - 1),
                                               YARN_SCHED_NOBODY_KNOWN};
    int err = core->is_known ? add_span(reading, core->pid, &span) : 0;
    if (!err && core->is_known)
        err = yarn_sched_cores_add(&reading->sched->cores, &unknown);
    core->is_known = false;
    return err;
}

static int pass_gaps(struct reading *reading, uint64_t time_ns)
{
    const struct yarn_trace_file *file = &reading->stream->trace;
    int err = 0;
    while (!err && reading->nr_gaps < file->nr_gaps &&
           file->gaps[reading->nr_gaps].time_ns <= time_ns)
        err = pass_gap(reading, file->gaps[reading->nr_gaps++].cpu);
    return err;
}

static int take(struct reading *reading, const struct yarn_entry *entry)
{
    int err = pass_gaps(reading, entry->time_ns);
    if (err)
        return err;
    reading->cores[entry->cpu & (CORES_MAX - 1)].seen_ns = entry->time_ns;
    const struct yarn_stream_event *event = yarn_stream_event_of(reading->stream, entry);
    if (event && event->kind == YARN_STREAM_SWITCH)
        return take_switch(reading, entry);
    if (event && event->kind == YARN_STREAM_WAKING)
        return take_waking(reading, entry);
    return 0;
}

/* Threads that live on do so until the end, and some on cores. */
static int end(struct reading *reading, uint64_t end_ns)
{
    struct yarn_sched_log *sched = reading->sched;
    int err = 0;
    for (size_t i = reading->first_life; i < sched->nr_lives; i++) {
        sched->lives[i].has_wakings = reading->has_wakings;
        if (!sched->lives[i].has_ended)
            sched->lives[i].end_ns = end_ns;
    }
    for (uint32_t cpu = 0; !err && cpu < CORES_MAX; cpu++) {
        const struct core *core = &reading->cores[cpu];
        const struct yarn_sched_span span = {.begin_ns = core->since_ns,
                                             .length_ns = end_ns - core->since_ns,
                                             .cpu = cpu & (CORES_MAX - 1),
                                             .is_open = true};
        if (core->is_known)
            err = add_span(reading, core->pid, &span);
    }
    return err;
}

static int add_dump(struct reading *reading, uint64_t start_ns)
{
    const struct yarn_span name = yarn_span_of_text(reading->stream->path);
    struct yarn_profile *profile = reading->profile;
    struct yarn_profile_dump dump = {
        .process = {.start_ns = start_ns}, .has_end = true, .trust = {.clean_end = true}};
    dump.trust.stored.value[YARN_DUMP_TOTAL_SWITCHES_LOST] = reading->stream->trace.nr_lost;
    dump.path = yarn_strings_keep(&profile->strings, name);
    int err = dump.path ? yarn_strings_intern(&profile->strings, name, &dump.comm) : -ENOMEM;
    reading->stream->dump = reading->dump = (uint32_t)profile->nr_dumps;
    if (!err)
        err = YARN_ARRAY_PUT(&profile->dumps, &profile->nr_dumps, &profile->dumps_capacity, &dump);
    if (!err && (!reading->dump || start_ns < profile->start_ns))
        profile->start_ns = start_ns;
    return err;
}

static int read_entries(struct reading *reading, const struct yarn_entry *entries, size_t count)
{
    int err = 0;
    for (size_t i = 0; !err && i < count; i++)
        err = take(reading, &entries[i]);
    return err || !count ? err : end(reading, entries[count - 1].time_ns);
}

int yarn_profile_load_trace(struct yarn_profile *profile, struct yarn_stream *stream,
                            struct yarn_sched_log *sched)
{
    size_t count;
    const struct yarn_entry *entries = yarn_stream_entries(stream, &count);
    struct reading reading = {.profile = profile,
                              .stream = stream,
                              .sched = sched,
                              .first_life = sched->nr_lives,
                              .lives = YARN_TABLE_CLOSED,
                              .cores = calloc(CORES_MAX, sizeof *reading.cores)};
    int err = reading.cores ? yarn_table_open(&reading.lives, TABLE_FIRST, TABLE_MOST) : -ENOMEM;
    if (!err)
        err = add_dump(&reading, count ? entries[0].time_ns : 0);
    if (!err)
        err = read_entries(&reading, entries, count);
    yarn_table_close(&reading.lives);
    free(reading.cores);
    return err;
}
