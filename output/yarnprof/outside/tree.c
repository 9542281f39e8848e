/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/outside/tree.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

#include "core/base/crc32c.h"
#include "core/sys/clock.h"
#include "output/yarnprof/outside/following.h"
#include "output/yarnprof/outside/root.h"
#include "output/yarnprof/outside/switches.h"
#include "output/yarnprof/outside/waits.h"

enum { PATHS_BYTES = 64 << 20, FIRST_KEYS = 256, KEYS_MAX = 1 << 20 };

/* A thread has inherited its events some time before the record of its birth. */
#define BIRTH_NS (YARN_NS_PER_MS / 10)

int yarn_process_tree_open(struct yarn_process_tree *tree, const struct yarn_job *job,
                           const struct yarn_session *session)
{
    *tree = (struct yarn_process_tree){.job = job, .session = session};
    tree->times = yarn_tree_times_of(session, &tree->processes);
    tree->waits = yarn_tree_waits_of(job);
    yarn_arena_open(&tree->paths, PATHS_BYTES);
    int err = yarn_table_open(&tree->path_at, FIRST_KEYS, KEYS_MAX);
    if (!err)
        err = yarn_tree_rows_open(&tree->rows);
    return err ? err : yarn_pipeline_shared_open(&tree->shared);
}

/* ---- processes ---- */

const char *yarn_tree_intern(struct yarn_process_tree *tree, const char *path)
{
    uint64_t key = yarn_crc32c(0, yarn_span_of_text(path)) | (uint64_t)strlen(path) << 32;
    uint32_t at = yarn_table_find(&tree->path_at, key);
    if (at != YARN_TABLE_NONE && !strcmp((const char *)tree->paths.base + at, path))
        return (const char *)tree->paths.base + at;
    const char *copy = yarn_arena_text(&tree->paths, path, strlen(path));
    if (!copy)
        return NULL;
    int err = yarn_table_remember(&tree->path_at, key,
                                  (uint32_t)((const uint8_t *)copy - tree->paths.base));
    (void)err; /* the path is copied again, the next time */
    return copy;
}

static struct yarn_tree_process *find(const struct yarn_process_tree *tree, uint32_t pid)
{
    return yarn_processes_find(&tree->processes, pid);
}

static void add(struct yarn_process_tree *tree, struct yarn_tree_process *process)
{
    if (!process) {
        yarn_tree_note(tree, "no memory for a process", -ENOMEM);
        return;
    }
    process->target.is_cpu_estimated = tree->times.is_cut;
    yarn_processes_add(&tree->processes, process);
}

int yarn_process_tree_add_first(struct yarn_process_tree *tree, pid_t pid, uint64_t time_ns)
{
    const struct yarn_tree_thread first = {.tid = (uint32_t)pid, .time_ns = time_ns};
    struct yarn_tree_process *process = yarn_tree_process_new(&first, NULL, &tree->job->facts);
    if (!process)
        return -ENOMEM;
    process->facts.parent_pid = tree->job->facts.pid;
    process->is_ignored = true; /* until it executes */
    tree->first_pid = pid;
    add(tree, process);
    return 0;
}

static const char *keep_path(void *self, const char *path)
{
    return yarn_tree_intern(self, path);
}

/* Its first thread stays out of the list until it is attached to. */
int yarn_process_tree_add_running(struct yarn_process_tree *tree, pid_t pid)
{
    const struct yarn_tree_thread first = {.tid = (uint32_t)pid,
                                           .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC)};
    if (find(tree, (uint32_t)pid))
        return 0;
    struct yarn_tree_process *process = yarn_tree_process_new(&first, NULL, &tree->job->facts);
    if (!process)
        return -ENOMEM;
    process->nr_threads = 0;
    process->facts.lineage = (struct yarn_lineage){.predecessor = 0};
    int err = yarn_tree_process_read(process, keep_path, tree);
    if (err) {
        yarn_tree_process_free(process);
        return err;
    }
    yarn_tree_times_on_attach(&tree->times, process);
    add(tree, process);
    return 0;
}

int yarn_process_tree_add_thread(struct yarn_process_tree *tree, pid_t pid, pid_t tid)
{
    struct yarn_tree_process *process = find(tree, (uint32_t)pid);
    struct yarn_tree_thread thread = {.tid = (uint32_t)tid};
    if (!process)
        return -ESRCH;
    const struct yarn_tree_thread *born = yarn_tree_process_thread(process, thread.tid);
    thread.time_ns = born ? born->time_ns : process->facts.start_ns;
    thread.parent_tid = born ? born->parent_tid : 0;
    thread.attached_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    thread.whole_ns = thread.attached_ns + BIRTH_NS;
    process->nr_unseen++;
    process->switches_ns = thread.attached_ns;
    yarn_target_thread_name(&process->target, tid, thread.name, sizeof thread.name);
    if (!yarn_tree_process_add_thread(process, &thread))
        return -ENOMEM;
    yarn_tree_waits_add(tree, process, (uint32_t)tid);
    return 0;
}

bool yarn_process_tree_has_thread(const struct yarn_process_tree *tree, pid_t pid, pid_t tid)
{
    const struct yarn_tree_process *process = find(tree, (uint32_t)pid);
    const struct yarn_tree_thread *thread =
        process ? yarn_tree_process_thread(process, (uint32_t)tid) : NULL;
    return thread && (thread->whole_ns || tree->session->request->of_cores);
}

static void end_process(struct yarn_process_tree *tree, struct yarn_tree_process *process,
                        enum yarn_dump_end_reason reason, int status)
{
    yarn_tree_end_image(tree, process, reason, status);
    yarn_processes_remove(&tree->processes, process);
    yarn_tree_process_free(process);
}

/* ---- records ---- */

/* While the kernel puts a new image in the old one's place, the user's part is of neither. */
static void feed_without_user(struct yarn_tree_process *process,
                              const struct yarn_typed_record *record)
{
    struct yarn_typed_record kernel = *record;
    kernel.perf.registers_abi = PERF_SAMPLE_REGS_ABI_NONE;
    yarn_tree_feed(process, &kernel);
}

/* An event that was inherited at the moment of a stop may go on for a while. */
static bool was_off(const struct yarn_tree_pause *pause, uint64_t time_ns)
{
    return pause->off_ns && time_ns > pause->off_ns && (pause->is_off || time_ns < pause->on_ns);
}

static void on_sample(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    struct yarn_tree_process *process = find(tree, record->perf.pid);
    if (was_off(&tree->pause, record->perf.time))
        return;
    /* Of whole cores also those that are nobody's here. */
    tree->nr_stray += !process && !tree->session->request->of_cores;
    if (!process || !yarn_tree_begin_following(tree, process))
        return;
    if (process->has_program)
        yarn_tree_feed(process, record);
    else
        feed_without_user(process, record);
}

static void begin_process(struct yarn_process_tree *tree, const struct yarn_tree_process *parent,
                          const struct yarn_typed_record *record,
                          const struct yarn_tree_thread *first)
{
    struct yarn_tree_process *old = find(tree, record->task.pid);
    if (!parent && tree->session->request->of_cores && !tree->has_all)
        return;
    /* It was found in the list, and attached to, before its birth was read here. */
    if (old && record->perf.time <= old->facts.start_ns)
        return;
    if (old) /* its end was lost */
        end_process(tree, old, YARN_DUMP_END_EXIT, -1);
    struct yarn_tree_process *child = yarn_tree_process_new(first, parent, &tree->job->facts);
    add(tree, child);
    if (!child)
        return;
    child->facts.parent_pid = (pid_t)record->task.parent_pid;
    child->is_ignored |= !(tree->job->options.follow & YARN_FOLLOW_FORK);
}

/* What it has of the thread that made it. */
static void take_after(struct yarn_tree_thread *thread, const struct yarn_tree_thread *maker)
{
    if (!maker)
        return;
    memcpy(thread->name, maker->name, sizeof thread->name);
    if (maker->whole_ns && maker->whole_ns <= thread->time_ns)
        thread->whole_ns = thread->time_ns;
}

static void on_birth(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    struct yarn_tree_process *parent = find(tree, record->task.parent_pid);
    struct yarn_tree_thread thread = {
        .tid = record->task.tid,
        .parent_tid = record->task.parent_tid,
        .time_ns = record->perf.time,
    };
    if (parent)
        take_after(&thread, yarn_tree_process_thread(parent, thread.parent_tid));
    if (record->task.pid != record->task.parent_pid) {
        begin_process(tree, parent, record, &thread);
        return;
    }
    if (!parent)
        return;
    const struct yarn_tree_thread *attached = yarn_tree_process_thread(parent, thread.tid);
    if (attached && attached->whole_ns >= thread.time_ns) /* before its birth was read here */
        thread.whole_ns = attached->whole_ns;
    if (!yarn_tree_process_add_thread(parent, &thread))
        yarn_tree_note(tree, "no memory for a thread", -ENOMEM);
    yarn_tree_feed(parent, record);
}

static void on_end(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    struct yarn_tree_process *process = find(tree, record->task.pid);
    if (!process)
        return;
    yarn_tree_feed(process, record);
    if (!process->followed)
        yarn_tree_switches_drop(process, record->task.tid);
    /* Why it is known by this: the kernel takes the events away between the name and the first
     * mapping, within some 20 us, and writes an end, while the process lives on. */
    if (process->has_executed && !process->has_program && record->task.tid == record->task.pid)
        yarn_unfollowed_add(&tree->unfollowed,
                            yarn_tree_process_thread_name(process, record->task.tid));
    /* The command's own end has a status, once it is waited for. */
    process->target.has_ended = !yarn_tree_process_end_thread(process, record->task.tid);
    if (process->target.has_ended && process->target.pid != tree->first_pid)
        end_process(tree, process, YARN_DUMP_END_EXIT, -1);
}

/* The first thread's end is the process's, which is looked for elsewhere. */
static bool is_unseen(const struct yarn_tree_process *process,
                      const struct yarn_tree_thread *thread)
{
    return thread->attached_ns && (pid_t)thread->tid != process->target.pid;
}

bool yarn_process_tree_find_gone(struct yarn_process_tree *tree)
{
    struct yarn_tree_process *process = NULL;
    bool has_any = false;
    while ((process = yarn_processes_next(&tree->processes, process))) {
        for (size_t i = 0; process->nr_unseen && i < process->nr_threads; i++) {
            struct yarn_tree_thread *thread = &process->threads[i];
            thread->is_gone =
                is_unseen(process, thread) &&
                !yarn_target_has_thread(&process->target, process->target.pid, (pid_t)thread->tid);
            has_any |= thread->is_gone;
        }
    }
    return has_any;
}

void yarn_process_tree_end_gone(struct yarn_process_tree *tree)
{
    struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(&tree->processes, process))) {
        for (size_t i = process->nr_threads; i-- > 0 && process->nr_threads > 1;) {
            const struct yarn_tree_thread thread = process->threads[i];
            const struct yarn_typed_record end = {
                .type = YARN_RECORD_EXIT,
                .perf = {.time = thread.attached_ns, .tid = thread.tid},
                .task = {.pid = (uint32_t)process->target.pid, .tid = thread.tid},
            };
            if (!thread.is_gone || !is_unseen(process, &thread))
                continue;
            (void)yarn_tree_process_see_thread(process, thread.tid);
            on_end(tree, &end);
        }
    }
}

/* As an image begins its thread is on a core, and has not just come. */
static void keep_first(struct yarn_tree_process *process, const struct yarn_typed_record *record)
{
    struct yarn_typed_record on = *record;
    on.type = YARN_RECORD_SWITCH;
    on.switched.is_out = on.switched.is_preempted = false;
    yarn_tree_switches_keep(process, &on);
}

static void on_exec(struct yarn_process_tree *tree, struct yarn_tree_process *process,
                    const struct yarn_typed_record *record)
{
    struct yarn_tree_thread first = {.tid = record->comm.tid, .time_ns = record->perf.time};
    bool is_command = process->target.pid == tree->first_pid && !process->has_program;
    yarn_tree_times_pass(&tree->times, record->perf.time);
    yarn_tree_end_image(tree, process, YARN_DUMP_END_EXEC, -1);
    const struct yarn_tree_thread *former = yarn_tree_process_thread(process, first.tid);
    first.whole_ns = former ? former->whole_ns : 0;
    yarn_tree_process_exec(process, record->perf.time);
    yarn_tree_times_on_exec(&tree->times, process, record);
    keep_first(process, record);
    memcpy(first.name, record->comm.name, sizeof first.name);
    (void)snprintf(process->name, sizeof process->name, "%s", record->comm.name);
    if (!yarn_tree_process_add_thread(process, &first))
        yarn_tree_note(tree, "no memory for a thread", -ENOMEM);
    if (is_command)
        process->facts.lineage = (struct yarn_lineage){.predecessor = 0};
    process->is_ignored = !is_command && !(tree->job->options.follow & YARN_FOLLOW_EXEC);
}

static void on_comm(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    struct yarn_tree_process *process = find(tree, record->comm.pid);
    if (!process)
        return;
    if (record->perf.misc & PERF_RECORD_MISC_COMM_EXEC) {
        on_exec(tree, process, record);
        return;
    }
    yarn_tree_process_name_thread(process, record->comm.tid, record->comm.name);
    yarn_tree_feed(process, record);
}

static void on_mapping(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    const struct yarn_record_mmap *from = record->mmap;
    struct yarn_tree_process *process = find(tree, from->pid);
    if (!process || !(from->protection & PROT_EXEC))
        return;
    struct yarn_tree_mapping mapping = {
        .start = from->start,
        .end = from->start + from->size,
        .file_offset = from->file_offset,
        .device = from->device,
        .inode = from->inode,
        .time_ns = record->perf.time,
        .path = yarn_tree_intern(tree, from->path),
    };
    if (!mapping.path || !yarn_tree_process_map(process, &mapping)) {
        yarn_tree_note(tree, "no memory for a mapping", -ENOMEM);
        return;
    }
    yarn_tree_feed(process, record);
    if (process->has_program || mapping.path[0] != '/')
        return;
    yarn_tree_root_look(&process->target);
    yarn_tree_process_set_program(process, mapping.path);
    if (process->followed && !yarn_tree_begin_following(tree, process))
        return;
}

static void on_lost(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    struct yarn_tree_process *process = find(tree, record->perf.pid);
    yarn_tree_waits_lose(tree, record->perf.time);
    yarn_tree_switches_lose(tree, record->perf.time);
    bool is_counted = tree->session->report.features & YARN_ATTR_LOST;
    /* Why not where it is counted: such a record is of all events of its ring. */
    if (is_counted || !process || !process->followed || !process->has_program)
        return;
    tree->nr_lost += record->lost.count;
    yarn_tree_feed(process, record);
}

static bool switches_are_asked_for(const struct yarn_process_tree *tree)
{
    return tree->job->options.texts[YARN_OPTION_SCHED] !=
           yarn_option_row(YARN_OPTION_SCHED)->default_text;
}

static void on_switch(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    struct yarn_tree_process *process = find(tree, record->perf.pid);
    if (!process)
        return;
    bool has_dump = yarn_tree_process_has_dump(process);
    if (!has_dump)
        yarn_tree_switches_keep(process, record);
    if (has_dump ||
        (yarn_tree_waits_are_on(tree) && process->has_program && yarn_tree_follow(tree, process)))
        yarn_tree_feed(process, record);
    if (!has_dump && process->has_program && switches_are_asked_for(tree))
        (void)yarn_tree_begin_following(tree, process);
}

static void on_other(struct yarn_process_tree *tree, const struct yarn_typed_record *record)
{
    struct yarn_tree_process *process = find(tree, record->perf.pid);
    if (process)
        yarn_tree_feed(process, record);
}

typedef void (*handle_fn)(struct yarn_process_tree *tree, const struct yarn_typed_record *record);

static const handle_fn handlers[YARN_RECORD_TYPE_COUNT] = {
    [YARN_RECORD_SAMPLE] = on_sample,  [YARN_RECORD_MMAP] = on_mapping,
    [YARN_RECORD_COMM] = on_comm,      [YARN_RECORD_FORK] = on_birth,
    [YARN_RECORD_EXIT] = on_end,       [YARN_RECORD_LOST] = on_lost,
    [YARN_RECORD_THROTTLE] = on_other, [YARN_RECORD_SWITCH] = on_switch,
    [YARN_RECORD_OTHER] = NULL,        [YARN_RECORD_UNKNOWN] = on_other,
};

static void on_record(void *self, const struct yarn_typed_record *record)
{
    struct yarn_process_tree *tree = self;
    tree->read_ns = yarn_u64_max(tree->read_ns, record->perf.time);
    yarn_tree_times_record(&tree->times, record);
    if (tree->times.is_cut && !tree->are_switches_cut)
        yarn_tree_switches_cut(tree);
    if (handlers[record->type])
        handlers[record->type](tree, record);
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    struct yarn_process_tree *tree = self;
    (void)kernel_type, (void)size;
    tree->nr_malformed++;
}

struct yarn_record_listener yarn_process_tree_listener(struct yarn_process_tree *tree)
{
    return (struct yarn_record_listener){tree, on_record, on_malformed};
}

typedef void (*visit_fn)(struct yarn_followed *followed, uint64_t now_ns);

static void visit(struct yarn_process_tree *tree, visit_fn each)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(&tree->processes, process)))
        if (process->followed)
            each(process->followed, now_ns);
}

static void see_images(struct yarn_followed *followed, uint64_t now_ns)
{
    (void)now_ns;
    yarn_module_map_see_images(followed->pipeline.map);
}

static void look_for_closed(struct yarn_followed *followed, uint64_t now_ns)
{
    (void)now_ns;
    yarn_module_map_after_sweep(followed->pipeline.map);
}

/* Another event samples, once switch records are given up. */
static void follow_changes(struct yarn_process_tree *tree)
{
    struct yarn_tree_process *process = NULL;
    if (tree->nr_changes == tree->session->nr_changes)
        return;
    tree->nr_changes = tree->session->nr_changes;
    while ((process = yarn_processes_next(&tree->processes, process)))
        if (process->followed)
            yarn_followed_change(process->followed, tree->session);
}

void yarn_process_tree_store(struct yarn_process_tree *tree, uint64_t until_ns)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    follow_changes(tree);
    yarn_tree_times_pass(&tree->times, until_ns);
    if (now_ns >= tree->written_ns + tree->job->options.interval_ns) {
        tree->written_ns = now_ns;
        yarn_machine_facts_renew(&tree->shared.machine);
        yarn_tree_write(tree);
    }
    yarn_tree_switches_read_times(tree, now_ns);
    visit(tree, yarn_followed_store);
    if (!yarn_image_cache_is_due(&tree->shared.images))
        return;
    visit(tree, see_images);
    yarn_image_cache_sweep(&tree->shared.images);
    visit(tree, look_for_closed);
}

/* ---- stops ---- */

void yarn_process_tree_pause(struct yarn_process_tree *tree, uint64_t now_ns,
                             enum yarn_dump_coverage_cause cause)
{
    struct yarn_tree_process *process = NULL;
    yarn_tree_waits_stop(tree, now_ns);
    yarn_tree_switches_stop(tree, now_ns);
    tree->pause = (struct yarn_tree_pause){.is_off = true, .off_ns = now_ns, .off_by = cause};
    while ((process = yarn_processes_next(&tree->processes, process))) {
        process->off_cpu_ns = process->target.cpu_ns;
        if (process->followed)
            yarn_coverage_stop(&process->followed->account.coverage, now_ns, cause);
    }
}

void yarn_process_tree_resume(struct yarn_process_tree *tree, uint64_t now_ns,
                              enum yarn_dump_coverage_cause cause)
{
    struct yarn_tree_process *process = NULL;
    tree->pause.is_off = false;
    tree->pause.on_ns = now_ns;
    tree->pause.on_by = cause;
    yarn_tree_waits_start(tree);
    yarn_tree_switches_start(tree, now_ns);
    while ((process = yarn_processes_next(&tree->processes, process))) {
        process->skipped_ns += process->target.cpu_ns - process->off_cpu_ns;
        if (process->followed)
            yarn_coverage_start(&process->followed->account.coverage, now_ns, cause);
    }
}

static void flush_followed(struct yarn_followed *followed, uint64_t now_ns)
{
    (void)now_ns;
    yarn_followed_flush(followed);
}

void yarn_process_tree_flush(struct yarn_process_tree *tree)
{
    yarn_tree_write(tree);
    visit(tree, flush_followed);
}

int yarn_process_tree_mark(struct yarn_process_tree *tree, const char *text)
{
    const struct yarn_dump_message message = {
        .time_ns = yarn_clock_ns(YARN_TIME_MONOTONIC),
        .kind = YARN_DUMP_MESSAGE_MARK,
        .text = yarn_span_of_text(text),
    };
    struct yarn_tree_process *first = yarn_processes_next(&tree->processes, NULL);
    yarn_tree_write(tree);
    if (!tree->holder && first && first->has_program && yarn_tree_begin_following(tree, first))
        yarn_tree_write(tree);
    if (!tree->holder)
        return -ENOENT;
    yarn_dump_write_message(tree->holder->dump.writer, &message);
    return 0;
}

uint64_t yarn_process_tree_samples(const struct yarn_process_tree *tree)
{
    const struct yarn_tree_process *process = NULL;
    uint64_t count = tree->nr_samples;
    while ((process = yarn_processes_next(&tree->processes, process)))
        if (process->followed)
            count += process->followed->account.totals.value[YARN_DUMP_TOTAL_SAMPLES];
    return count;
}

bool yarn_process_tree_has_seen_end(const struct yarn_process_tree *tree)
{
    const struct yarn_tree_process *first = find(tree, (uint32_t)tree->first_pid);
    return !first || !first->nr_threads;
}

bool yarn_process_tree_has_descendants(const struct yarn_process_tree *tree)
{
    struct yarn_tree_process *process = NULL;
    while ((process = yarn_processes_next(&tree->processes, process)))
        if (process->target.pid != tree->first_pid &&
            (!kill(process->target.pid, 0) || errno == EPERM))
            return true;
    return false;
}

/* The one whose dump has the tree is the last. */
void yarn_process_tree_end(struct yarn_process_tree *tree, int status)
{
    struct yarn_tree_process *process = NULL, *next;
    yarn_tree_write(tree);
    for (process = yarn_processes_next(&tree->processes, NULL); process; process = next) {
        next = yarn_processes_next(&tree->processes, process);
        bool is_first = process->target.pid == tree->first_pid;
        if (!tree->holder || process->followed != tree->holder)
            end_process(tree, process, is_first ? YARN_DUMP_END_EXIT : YARN_DUMP_END_STOPPED,
                        is_first ? status : -1);
    }
    while ((process = yarn_processes_next(&tree->processes, NULL))) {
        bool is_first = process->target.pid == tree->first_pid;
        end_process(tree, process, is_first ? YARN_DUMP_END_EXIT : YARN_DUMP_END_STOPPED,
                    is_first ? status : -1);
    }
}

void yarn_process_tree_close(struct yarn_process_tree *tree)
{
    yarn_process_tree_end(tree, -1);
    yarn_own_dumps_fini(&tree->ended);
    yarn_pipeline_shared_close(&tree->shared);
    yarn_tree_rows_close(&tree->rows);
    yarn_table_close(&tree->path_at);
    yarn_arena_close(&tree->paths);
}
