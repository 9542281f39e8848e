/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/following.h"

#include <stdlib.h>

#include "core/sys/clock.h"
#include "output/base/array.h"
#include "output/yarnprof/outside/root.h"
#include "output/yarnprof/outside/switches.h"

#define COUNT_EVENTS_MAX 64 /* with more open, they are only read at the end */

void yarn_tree_note(struct yarn_process_tree *tree, const char *failure, int err)
{
    if (tree->failure)
        return;
    tree->failure = failure;
    tree->error = err;
}

static void feed_mapping(struct yarn_tree_process *process, const struct yarn_tree_mapping *from)
{
    struct yarn_mapping mapping = {
        .start = from->start,
        .end = from->end,
        .file_offset = from->file_offset,
        .device = from->device,
        .inode = from->inode,
        .time_ns = from->time_ns,
        .path = from->path,
    };
    if (yarn_module_map_add(process->followed->pipeline.map, &mapping))
        yarn_account_count(&process->followed->account, YARN_DUMP_TOTAL_RECORDS_BAD, 1);
}

static void write_thread(struct yarn_dump_writer *writer, const struct yarn_tree_thread *from)
{
    struct yarn_dump_thread thread = {
        .tid = from->tid,
        .parent_tid = from->parent_tid,
        .time_ns = from->time_ns,
        .comm = yarn_span_of_text(from->name),
    };
    yarn_dump_write_thread(writer, &thread);
}

static bool is_wanted(const struct yarn_process_tree *tree, const struct yarn_tree_process *process)
{
    const struct yarn_options *options = &tree->job->options;
    return yarn_job_is_for(options, process->facts.exe) || yarn_job_is_for(options, process->name);
}

static void begin_dump(struct yarn_process_tree *tree, struct yarn_tree_process *process)
{
    struct yarn_followed *followed = process->followed;
    if (!is_wanted(tree, process)) {
        process->is_ignored = true;
        return;
    }
    int err =
        yarn_followed_begin(followed, &process->facts, yarn_tree_process_environment(process));
    if (err) {
        yarn_tree_note(tree, followed->failure.what, err);
        return;
    }
    for (size_t i = 0; i < process->nr_threads; i++)
        write_thread(followed->dump.writer, &process->threads[i]);
    yarn_tree_switches_begin(tree, process);
}

/* Stopped before its first sample. */
static void cover(const struct yarn_tree_pause *pause, const struct yarn_tree_process *process)
{
    struct yarn_coverage *coverage = &process->followed->account.coverage;
    uint64_t since_ns = yarn_u64_max(pause->off_ns, process->facts.start_ns);
    if (!pause->off_ns || (!pause->is_off && pause->on_ns <= since_ns))
        return;
    yarn_coverage_begin_off(coverage, since_ns, process->off_cpu_ns, pause->off_by);
    if (!pause->is_off)
        yarn_coverage_start(coverage, pause->on_ns, pause->on_by);
}

static bool begin_dump_of(void *self)
{
    struct yarn_tree_process *process = self;
    return yarn_tree_begin_following(process->tree, process) && yarn_tree_process_has_dump(process);
}

/* Why since the round before, though it may have been born later: that is how long its first look
 * stands for. */
static void watch(struct yarn_process_tree *tree, struct yarn_tree_process *process)
{
    struct yarn_off_cpu *off_cpu = &process->followed->pipeline.off_cpu;
    process->tree = tree;
    off_cpu->begin_dump = begin_dump_of;
    off_cpu->self = process;
    yarn_off_cpu_slow_down(off_cpu, tree->waits.period_ns);
    if (yarn_tree_waits_are_on(tree) && tree->waits.is_by_clock)
        yarn_off_cpu_go_by_clock(off_cpu);
    else if (yarn_tree_waits_are_on(tree))
        yarn_off_cpu_start_at_birth(off_cpu, tree->waits.round_ns);
}

bool yarn_tree_follow(struct yarn_process_tree *tree, struct yarn_tree_process *process)
{
    if (process->is_ignored || process->followed)
        return !process->is_ignored;
    yarn_tree_root_look(&process->target);
    int err = yarn_followed_new(&process->followed, tree->job, tree->session, &process->target,
                                process->nr_threads, &tree->shared);
    if (err) {
        yarn_tree_note(tree, "no memory for a process", err);
        process->is_ignored = true;
        return false;
    }
    cover(&tree->pause, process);
    for (size_t i = 0; i < process->nr_mappings; i++)
        feed_mapping(process, &process->mappings[i]);
    watch(tree, process);
    return true;
}

bool yarn_tree_begin_following(struct yarn_process_tree *tree, struct yarn_tree_process *process)
{
    if (!yarn_tree_follow(tree, process))
        return false;
    if (process->has_program && !yarn_tree_process_has_dump(process) &&
        !process->followed->failure.what)
        begin_dump(tree, process);
    return !process->is_ignored;
}

void yarn_tree_feed(struct yarn_tree_process *process, const struct yarn_typed_record *record)
{
    bool is_queued = record->type == YARN_RECORD_SAMPLE || record->type == YARN_RECORD_MMAP;
    bool is_kept = record->type == YARN_RECORD_SWITCH || record->type == YARN_RECORD_FORK ||
                   record->type == YARN_RECORD_EXIT;
    if (process->followed &&
        (is_queued || (process->has_program && (is_kept || yarn_tree_process_has_dump(process)))))
        yarn_followed_record(process->followed, record);
}

/* ---- the dump that has the tree ---- */

static struct yarn_dump_tree_process row_of(struct yarn_process_tree *tree,
                                            const struct yarn_tree_process *process,
                                            enum yarn_dump_end_reason reason, int status)
{
    const struct yarn_followed *followed = process->followed;
    const char *program = yarn_tree_intern(tree, process->name);
    bool is_unknown = !process->has_program && reason == YARN_DUMP_END_EXIT;
    return (struct yarn_dump_tree_process){
        .pid = (uint32_t)process->target.pid,
        .parent_pid = (uint32_t)process->facts.parent_pid,
        .start_ns = process->facts.start_ns,
        .end_ns = tree->read_ns,
        .program = yarn_span_of_text(program ? program : ""),
        .cpu_ns = process->target.cpu_ns,
        .sampled_ns = yarn_tree_process_has_dump(process) ? followed->account.sampled_ns : 0,
        .reason = reason,
        .status = status,
        .flags = (yarn_tree_process_has_dump(process) ? YARN_DUMP_TREE_HAS_DUMP : 0) |
                 (process->target.is_cpu_estimated ? YARN_DUMP_TREE_IS_ESTIMATED : 0) |
                 (is_unknown ? YARN_DUMP_TREE_IS_UNKNOWN : 0),
    };
}

/* What the command was before it executed anything is nobody's. */
static bool has_row(const struct yarn_tree_process *process)
{
    return process->has_program || process->has_executed;
}

static void add_row(struct yarn_process_tree *tree, const struct yarn_tree_process *process,
                    enum yarn_dump_end_reason reason, int status)
{
    if (!has_row(process))
        return;
    const struct yarn_dump_tree_process row = row_of(tree, process, reason, status);
    uint64_t off_ns = tree->pause.is_off ? process->target.cpu_ns - process->off_cpu_ns : 0;
    bool is_left_out = process->is_ignored || (process->has_program && !is_wanted(tree, process));
    yarn_tree_rows_add(&tree->rows, &row, !(row.flags & YARN_DUMP_TREE_HAS_DUMP) && !is_left_out,
                       process->skipped_ns + off_ns);
}

/* Of the kernel: what the clock counted, and samples of all that were lost, which are nobody's. */
static void read_counts(struct yarn_process_tree *tree)
{
    uint64_t lost = 0;
    for (uint32_t i = 0; i < tree->session->request->nr_events; i++) {
        if (tree->session->statuses[i].error)
            continue;
        struct yarn_perf_count count = yarn_session_count(tree->session, i);
        lost += count.lost;
        if (i != tree->times.clock_event || tree->session->request->of_cores)
            continue;
        bool is_known = !yarn_session_counts_twice(tree->session);
        tree->rows.tree.counted_ns =
            is_known ? yarn_u64_minus(count.count, tree->kept_counted_ns) : 0;
    }
    tree->holder->account.nr_lost += yarn_u64_minus(lost, tree->nr_lost);
    tree->nr_lost = yarn_u64_max(lost, tree->nr_lost);
}

static void see_living(struct yarn_process_tree *tree)
{
    const struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(&tree->processes, process))) {
        const struct yarn_dump_tree_process row = row_of(tree, process, YARN_DUMP_END_STOPPED, -1);
        if (has_row(process))
            yarn_tree_rows_see(&tree->rows, &row);
    }
}

/* Where it is the last in this dump, those that live will be in another. */
static void write_rows(struct yarn_process_tree *tree, bool is_last)
{
    struct yarn_dump_tree *row = &tree->rows.tree;
    row->time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    row->cpu_ns = tree->times.cpu_ns - tree->kept_cpu_ns;
    row->stray = tree->nr_stray;
    if (is_last || tree->session->nr_events <= COUNT_EVENTS_MAX)
        read_counts(tree);
    if (!is_last)
        see_living(tree);
    yarn_tree_rows_write(&tree->rows, tree->holder->dump.writer);
}

/* The command's own dump, which there is for this; else another. */
static void find_holder(struct yarn_process_tree *tree)
{
    struct yarn_tree_process *process =
        yarn_processes_find(&tree->processes, (uint32_t)tree->first_pid);
    if (process && process->has_program && !yarn_tree_process_has_dump(process) &&
        is_wanted(tree, process))
        (void)yarn_tree_begin_following(tree, process);
    if (!process || !yarn_tree_process_has_dump(process))
        process = yarn_processes_next(&tree->processes, NULL);
    while (process && !yarn_tree_process_has_dump(process))
        process = yarn_processes_next(&tree->processes, process);
    if (!process)
        return;
    tree->holder = process->followed;
    tree->holder->account.child_times = tree->rows.silent;
}

void yarn_tree_write(struct yarn_process_tree *tree)
{
    if (!tree->holder)
        find_holder(tree);
    if (tree->holder)
        write_rows(tree, false);
}

static void end_holding(struct yarn_process_tree *tree)
{
    write_rows(tree, true);
    tree->kept_cpu_ns += tree->rows.tree.cpu_ns;
    tree->kept_counted_ns += tree->rows.tree.counted_ns;
    tree->holder = NULL;
}

static void end_following(struct yarn_process_tree *tree, struct yarn_followed *followed,
                          enum yarn_dump_end_reason reason, int status)
{
    struct yarn_own_dump dump;
    yarn_followed_end(followed, reason, status, &dump);
    if (!dump.path)
        return;
    int err = YARN_ARRAY_PUT(&tree->ended.list, &tree->ended.count, &tree->ended.capacity, &dump);
    if (err) {
        yarn_tree_note(tree, "no memory for the list of dumps", err);
        free(dump.path);
    }
}

void yarn_tree_end_image(struct yarn_process_tree *tree, struct yarn_tree_process *process,
                         enum yarn_dump_end_reason reason, int status)
{
    bool is_holder = process->followed && process->followed == tree->holder;
    yarn_tree_times_on_end(&tree->times, process);
    if (process->followed) {
        uint64_t end_ns = yarn_u64_max(tree->read_ns, tree->ended_ns);
        yarn_off_cpu_stop(&process->followed->pipeline.off_cpu, end_ns);
        yarn_tree_switches_end(process, end_ns);
        process->followed->dump.ended_ns = end_ns;
        if (yarn_tree_process_has_dump(process)) /* its row has the time of all of them */
            (void)yarn_pipeline_store_queued(&process->followed->pipeline, UINT64_MAX);
    }
    add_row(tree, process, reason, status);
    if (is_holder)
        end_holding(tree);
    if (process->followed) {
        tree->nr_samples += process->followed->account.totals.value[YARN_DUMP_TOTAL_SAMPLES];
        end_following(tree, process->followed, reason, status);
    }
    process->followed = NULL;
    if (is_holder)
        yarn_tree_rows_begin_anew(&tree->rows);
}
