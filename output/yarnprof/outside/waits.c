/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/waits.h"

#include "core/sys/clock.h"
#include "output/yarnprof/outside/following.h"

/* Between two passes over the processes, and after what time without a record there is no hurry. */
#define PASS_LEAST_NS (YARN_NS_PER_MS / 4)
#define IDLE_NS (100 * YARN_NS_PER_MS)

static uint64_t now(void)
{
    return yarn_clock_ns(YARN_TIME_MONOTONIC);
}

struct yarn_tree_waits yarn_tree_waits_of(const struct yarn_job *job)
{
    bool is_wanted = job->nr_perf_events < job->events.count;
    return (struct yarn_tree_waits){
        .is_wanted = is_wanted,
        .period_ns = is_wanted ? job->events.specs[job->nr_perf_events].period : 0,
        .round_ns = now(),
    };
}

static struct yarn_off_cpu *sampler_of(const struct yarn_tree_process *process)
{
    return process->followed ? &process->followed->pipeline.off_cpu : NULL;
}

void yarn_tree_waits_add(struct yarn_process_tree *tree, struct yarn_tree_process *process,
                         uint32_t tid)
{
    if (yarn_tree_waits_are_on(tree) && yarn_tree_follow(tree, process))
        yarn_waits_add(&sampler_of(process)->waits, tid, now());
}

/* ---- all of them ---- */

typedef void (*each_fn)(struct yarn_off_cpu *off_cpu, uint64_t time_ns);

static void visit(const struct yarn_process_tree *tree, each_fn each, uint64_t time_ns)
{
    struct yarn_tree_process *process = NULL;
    while (tree->waits.is_wanted && (process = yarn_processes_next(&tree->processes, process)))
        if (process->followed)
            each(sampler_of(process), time_ns);
}

static void lose(struct yarn_off_cpu *off_cpu, uint64_t time_ns)
{
    if (off_cpu->waits.is_on && !off_cpu->waits.is_by_clock)
        yarn_waits_lose(&off_cpu->waits, time_ns);
}

void yarn_tree_waits_lose(struct yarn_process_tree *tree, uint64_t time_ns)
{
    visit(tree, lose, time_ns);
}

static void start(struct yarn_off_cpu *off_cpu, uint64_t time_ns)
{
    (void)time_ns;
    yarn_off_cpu_start(off_cpu);
}

void yarn_tree_waits_start(struct yarn_process_tree *tree)
{
    tree->waits.round_ns = now();
    visit(tree, start, 0);
}

void yarn_tree_waits_stop(struct yarn_process_tree *tree, uint64_t now_ns)
{
    visit(tree, yarn_off_cpu_stop, now_ns);
}

/* ---- rounds ---- */

static void go_by_clock(struct yarn_off_cpu *off_cpu, uint64_t since_ns)
{
    yarn_off_cpu_stop(off_cpu, since_ns);
    yarn_off_cpu_go_by_clock(off_cpu);
}

static void slow_down(struct yarn_off_cpu *off_cpu, uint64_t period_ns)
{
    yarn_off_cpu_slow_down(off_cpu, period_ns);
}

/* As one process does it by itself. */
static void bound(struct yarn_process_tree *tree, size_t nr_looks, uint64_t now_ns)
{
    struct yarn_tree_waits *waits = &tree->waits;
    waits->nr_looks += nr_looks;
    bool is_much = waits->nr_looks > YARN_WAITS_LOOKS_MAX;
    if (!is_much && now_ns < waits->second_ns + YARN_NS_PER_SECOND)
        return;
    waits->second_ns = now_ns;
    waits->nr_looks = 0;
    if (!is_much)
        return;
    waits->period_ns *= 2;
    visit(tree, slow_down, waits->period_ns);
}

/* By clock, no record says that a process blocks. */
static bool is_followed(struct yarn_process_tree *tree, struct yarn_tree_process *process)
{
    return process->followed ||
           (tree->waits.is_by_clock && process->has_program && yarn_tree_follow(tree, process));
}

void yarn_tree_waits_look(struct yarn_process_tree *tree, uint64_t seen_ns)
{
    struct yarn_tree_waits *waits = &tree->waits;
    struct yarn_tree_process *process = NULL;
    uint64_t now_ns = now();
    size_t nr_looks = 0;
    if (!yarn_tree_waits_are_on(tree))
        return;
    if (tree->times.is_cut && !waits->is_by_clock) {
        waits->is_by_clock = true;
        visit(tree, go_by_clock, yarn_session_timed_until_ns(tree->session));
    }
    waits->due_ns = now_ns + waits->period_ns;
    while ((process = yarn_processes_next(&tree->processes, process))) {
        if (!is_followed(tree, process))
            continue;
        nr_looks += yarn_off_cpu_sample_due(sampler_of(process), seen_ns);
        waits->due_ns = yarn_u64_min(waits->due_ns, sampler_of(process)->waits.due_ns);
    }
    waits->due_ns = yarn_u64_max(waits->due_ns, now_ns + PASS_LEAST_NS);
    waits->round_ns = now_ns;
    bound(tree, nr_looks, now_ns);
}

/* While no thread of it runs, none blocks. */
uint64_t yarn_tree_waits_due_ns(const struct yarn_process_tree *tree)
{
    return yarn_tree_waits_are_on(tree) && now() < tree->read_ns + IDLE_NS ? tree->waits.due_ns
                                                                           : UINT64_MAX;
}
