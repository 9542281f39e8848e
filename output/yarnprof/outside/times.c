/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/times.h"

#include <time.h>

#include "core/sys/clock.h"

#define READ_NS (20 * YARN_NS_PER_MS)
#define COMPARE_NS (20 * YARN_NS_PER_MS)
#define INTERRUPTED_NS (20 * 1000)

enum {
    COMPARED_TURNS = 16, /* of fewer, what a reading is late by is too large a part */
    COST_SHARE = 64,     /* of the time may go into readings: of many events each takes long */
};

static uint32_t find_clock(const struct yarn_session *session)
{
    for (uint32_t i = 0; i < session->request->nr_events; i++)
        if (!session->statuses[i].error && session->statuses[i].spec.is_clock)
            return i;
    return YARN_DUMP_NONE;
}

struct yarn_tree_times yarn_tree_times_of(const struct yarn_session *session,
                                          const struct yarn_processes *processes)
{
    return (struct yarn_tree_times){
        .session = session,
        .processes = processes,
        .clock_event = find_clock(session),
        .is_cut = !session->request->times_tree,
    };
}

static void charge(struct yarn_tree_times *times, struct yarn_cpu_slice slice)
{
    struct yarn_tree_process *process = yarn_processes_find(times->processes, slice.pid);
    if (!slice.ns || !process)
        return;
    process->target.cpu_ns += slice.ns;
    times->cpu_ns += slice.ns;
}

/* Of `nr` turns; it may be less than they were charged before: modulo 2^64. */
static void charge_turns(struct yarn_tree_times *times, struct yarn_tree_process *process,
                         uint64_t nr, uint64_t each_ns)
{
    process->target.cpu_ns += nr * each_ns;
    process->target.switching_ns += nr * each_ns;
    times->cpu_ns += nr * each_ns;
    times->turns_ns += nr * each_ns;
}

static void charge_turn(struct yarn_tree_times *times, struct yarn_cpu_slice slice)
{
    struct yarn_tree_process *process = yarn_processes_find(times->processes, slice.pid);
    charge(times, slice);
    if (!slice.ns || !process)
        return;
    process->nr_turns++;
    times->nr_turns++;
    charge_turns(times, process, 1, times->turn_ns);
}

static void divide(struct yarn_tree_times *times, uint64_t time_ns)
{
    for (uint32_t cpu = 0; cpu < times->clock.nr_cpus; cpu++)
        charge(times, yarn_cpu_clock_divide(&times->clock, cpu, time_ns));
}

/* ---- what switches take ---- */

static void compare(struct yarn_tree_times *times)
{
    struct yarn_tree_process *process = NULL;
    divide(times, times->reading.time_ns);
    times->reading.time_ns = 0;
    if (times->nr_turns < COMPARED_TURNS || yarn_session_counts_twice(times->session))
        return;
    uint64_t spans_ns = times->cpu_ns - times->turns_ns;
    uint64_t switches_ns = yarn_u64_minus(times->reading.counted_ns, spans_ns);
    uint64_t turn_ns = yarn_u64_minus(switches_ns, times->switches_ns) / times->nr_turns;
    while ((process = yarn_processes_next(times->processes, process))) {
        charge_turns(times, process, process->nr_turns, turn_ns - times->turn_ns);
        process->nr_turns = 0;
    }
    times->switches_ns = switches_ns;
    times->turn_ns = turn_ns;
    times->nr_turns = 0;
}

static void read_count(struct yarn_tree_times *times)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (times->clock_event == YARN_DUMP_NONE || times->session->request->of_cores ||
        times->reading.time_ns || now_ns < times->compared_ns ||
        yarn_session_counts_twice(times->session))
        return;
    uint64_t cpu_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU);
    times->reading.counted_ns = yarn_session_count(times->session, times->clock_event).count;
    uint64_t cost_ns = yarn_clock_ns(YARN_TIME_THREAD_CPU) - cpu_ns;
    uint64_t took_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) - now_ns;
    times->compared_ns = now_ns + yarn_u64_max(COMPARE_NS, cost_ns * COST_SHARE);
    if (took_ns < 2 * cost_ns + INTERRUPTED_NS) /* else it is of no one time */
        times->reading.time_ns = now_ns + took_ns / 2;
}

/* ---- without switch records ---- */

/* 0: it has ended. */
static uint64_t clock_ns_of(const struct yarn_tree_process *process)
{
    clockid_t clock;
    struct timespec now;
    if (clock_getcpuclockid(process->target.pid, &clock) || clock_gettime(clock, &now))
        return 0;
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

static void read_clock(struct yarn_tree_times *times, struct yarn_tree_process *process)
{
    uint64_t now_ns = clock_ns_of(process);
    if (!now_ns)
        return;
    charge(times, (struct yarn_cpu_slice){(uint32_t)process->target.pid,
                                          yarn_u64_minus(now_ns, process->clock_ns)});
    process->clock_ns = now_ns;
    process->sampled_ns = 0;
}

static void read_clocks(struct yarn_tree_times *times)
{
    struct yarn_tree_process *process = NULL;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (now_ns < times->read_ns + READ_NS)
        return;
    times->read_ns = now_ns;
    while ((process = yarn_processes_next(times->processes, process)))
        read_clock(times, process);
}

void yarn_tree_times_on_end(struct yarn_tree_times *times, struct yarn_tree_process *process)
{
    charge(times, (struct yarn_cpu_slice){(uint32_t)process->target.pid, process->sampled_ns});
    process->sampled_ns = 0;
}

static void mark_estimated(struct yarn_tree_times *times)
{
    struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(times->processes, process)))
        process->target.is_cpu_estimated = true;
}

static void cut(struct yarn_tree_times *times, uint64_t time_ns)
{
    struct yarn_tree_process *process = NULL;
    divide(times, time_ns);
    for (uint32_t cpu = 0; cpu < times->clock.nr_cpus; cpu++)
        yarn_cpu_clock_lose(&times->clock, cpu);
    times->is_cut = true;
    mark_estimated(times);
    while ((process = yarn_processes_next(times->processes, process)))
        process->clock_ns = clock_ns_of(process);
}

/* ---- with them ---- */

/* A thread that was attached to while it ran came onto its core before that. */
static void see_thread(struct yarn_tree_times *times, struct yarn_tree_process *process,
                       const struct yarn_typed_record *record)
{
    const struct yarn_record *perf = &record->perf;
    uint64_t since_ns = process ? yarn_tree_process_see_thread(process, perf->tid) : 0;
    bool has_come = record->type == YARN_RECORD_SWITCH && !record->switched.is_out;
    if (since_ns && !has_come)
        yarn_cpu_clock_enter(&times->clock, perf->cpu, perf->pid, perf->tid, since_ns);
}

static void on_switch(struct yarn_tree_times *times, const struct yarn_typed_record *record)
{
    const struct yarn_record *perf = &record->perf;
    if (record->switched.is_out)
        charge_turn(times, yarn_cpu_clock_leave(&times->clock, perf->cpu, perf->tid, perf->time));
    else
        yarn_cpu_clock_enter(&times->clock, perf->cpu, perf->pid, perf->tid, perf->time);
}

static void on_sample(const struct yarn_tree_times *times, struct yarn_tree_process *process,
                      const struct yarn_typed_record *record)
{
    if (process && yarn_alternates_first(times->session, record->event) == times->clock_event)
        process->sampled_ns += record->perf.period;
}

void yarn_tree_times_record(struct yarn_tree_times *times, const struct yarn_typed_record *record)
{
    const struct yarn_record *perf = &record->perf;
    struct yarn_tree_process *process = yarn_processes_find(times->processes, perf->pid);
    uint64_t until_ns = yarn_session_timed_until_ns(times->session);
    if (!times->is_cut && perf->time >= until_ns)
        cut(times, until_ns);
    if (times->is_cut) {
        if (record->type == YARN_RECORD_SAMPLE)
            on_sample(times, process, record);
        return;
    }
    if (times->reading.time_ns && perf->time >= times->reading.time_ns)
        compare(times);
    if (record->type == YARN_RECORD_LOST) {
        yarn_cpu_clock_lose(&times->clock, perf->cpu);
        mark_estimated(times);
        return;
    }
    see_thread(times, process, record);
    if (record->type == YARN_RECORD_SWITCH)
        on_switch(times, record);
    if (record->type == YARN_RECORD_EXIT)
        charge_turn(times,
                    yarn_cpu_clock_leave(&times->clock, perf->cpu, record->task.tid, perf->time));
}

void yarn_tree_times_on_attach(const struct yarn_tree_times *times,
                               struct yarn_tree_process *process)
{
    process->clock_ns = times->is_cut ? clock_ns_of(process) : 0;
}

void yarn_tree_times_on_exec(struct yarn_tree_times *times, struct yarn_tree_process *process,
                             const struct yarn_typed_record *record)
{
    const struct yarn_record *perf = &record->perf;
    process->target.cpu_ns = process->target.switching_ns = process->nr_turns = 0;
    process->target.is_cpu_estimated = times->is_cut;
    process->clock_ns = times->is_cut ? clock_ns_of(process) : 0;
    if (times->is_cut || perf->cpu >= YARN_CPU_CLOCK_CPUS)
        return;
    yarn_cpu_clock_lose(&times->clock, perf->cpu);
    yarn_cpu_clock_enter(&times->clock, perf->cpu, perf->pid, perf->tid, perf->time);
}

void yarn_tree_times_pass(struct yarn_tree_times *times, uint64_t time_ns)
{
    divide(times, time_ns);
    if (times->is_cut)
        read_clocks(times);
    else
        read_count(times);
}
