/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/switches.h"

/* A few processes' threads are read so often, those of more less often. */
#define READ_NS (20 * YARN_NS_PER_MS)
enum { READ_AT_ONCE = 4 };

static struct yarn_switch_runs *runs_of(const struct yarn_tree_process *process)
{
    return yarn_tree_process_has_dump(process) ? process->followed->pipeline.runs : NULL;
}

static void note(const struct yarn_tree_process *process, uint64_t time_ns, bool is_on)
{
    const struct yarn_dump_switches switches = {.time_ns = time_ns, .is_on = is_on};
    yarn_dump_write_switches(process->followed->dump.writer, &switches);
}

/* ---- before there is a dump ---- */

static void forget(struct yarn_tree_process *process, uint64_t since_ns)
{
    process->nr_switches = 0;
    process->switches_ns = since_ns;
}

void yarn_tree_switches_keep(struct yarn_tree_process *process,
                             const struct yarn_typed_record *record)
{
    const struct yarn_record *perf = &record->perf;
    if (process->nr_switches == YARN_TREE_SWITCHES) {
        forget(process, perf->time);
        process->lacks_switches = true;
    }
    process->switches[process->nr_switches++] = (struct yarn_tree_switch){
        .time_ns = perf->time,
        .tid = perf->tid,
        .cpu = perf->cpu,
        .is_out = record->switched.is_out,
        .is_preempted = record->switched.is_preempted,
    };
}

void yarn_tree_switches_drop(struct yarn_tree_process *process, uint32_t tid)
{
    size_t kept = 0;
    for (size_t i = 0; i < process->nr_switches; i++)
        if (process->switches[i].tid != tid)
            process->switches[kept++] = process->switches[i];
    process->nr_switches = kept;
}

static struct yarn_typed_record record_of(const struct yarn_tree_switch *kept)
{
    return (struct yarn_typed_record){
        .type = YARN_RECORD_SWITCH,
        .perf = {.time = kept->time_ns, .tid = kept->tid, .cpu = kept->cpu},
        .switched = {.is_out = kept->is_out, .is_preempted = kept->is_preempted},
    };
}

void yarn_tree_switches_begin(const struct yarn_process_tree *tree,
                              struct yarn_tree_process *process)
{
    struct yarn_switch_runs *runs = runs_of(process);
    if (!runs || tree->pause.is_off || tree->are_switches_cut)
        return;
    if (process->lacks_switches) {
        note(process, process->facts.start_ns, false);
        note(process, process->switches_ns, true);
    }
    yarn_switch_runs_start(runs, process->switches_ns);
    for (size_t i = 0; i < process->nr_switches; i++) {
        const struct yarn_typed_record record = record_of(&process->switches[i]);
        (void)yarn_switch_runs_on_switch(runs, &record); /* they are few */
    }
}

/* ---- all of them ---- */

/* Of many processes less often. */
void yarn_tree_switches_read_times(struct yarn_process_tree *tree, uint64_t now_ns)
{
    struct yarn_tree_process *process = NULL;
    size_t nr_read = 0;
    if (now_ns < tree->times_due_ns)
        return;
    while ((process = yarn_processes_next(&tree->processes, process)))
        nr_read += process->followed && yarn_followed_read_times(process->followed, now_ns);
    tree->times_due_ns = now_ns + READ_NS * (1 + nr_read / READ_AT_ONCE);
}

void yarn_tree_switches_lose(struct yarn_process_tree *tree, uint64_t time_ns)
{
    struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(&tree->processes, process))) {
        if (runs_of(process)) {
            yarn_switch_runs_on_lost(runs_of(process));
        } else if (!yarn_tree_process_has_dump(process)) {
            forget(process, time_ns);
            process->lacks_switches = true;
        }
    }
}

void yarn_tree_switches_end(struct yarn_tree_process *process, uint64_t time_ns)
{
    if (runs_of(process))
        yarn_switch_runs_stop(runs_of(process), time_ns);
}

void yarn_tree_switches_stop(struct yarn_process_tree *tree, uint64_t now_ns)
{
    struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(&tree->processes, process)))
        yarn_tree_switches_end(process, now_ns);
}

void yarn_tree_switches_start(struct yarn_process_tree *tree, uint64_t now_ns)
{
    struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(&tree->processes, process))) {
        forget(process, now_ns);
        if (runs_of(process) && !tree->are_switches_cut)
            yarn_switch_runs_start(runs_of(process), now_ns);
    }
}

void yarn_tree_switches_cut(struct yarn_process_tree *tree)
{
    struct yarn_tree_process *process = NULL;
    uint64_t since_ns = yarn_session_timed_until_ns(tree->session);
    tree->are_switches_cut = true;
    yarn_tree_switches_stop(tree, since_ns);
    while ((process = yarn_processes_next(&tree->processes, process)))
        if (runs_of(process))
            note(process, since_ns, false);
}
