/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/pipeline.h"

#include <sys/mman.h>

#include "core/sys/clock.h"

/* New frames to name before the clock is read; a new module's symbols count as many. */
enum { FRAMES_PER_CHECK = 16, BRANCHES_AT_ONCE = 128 };
#define QUEUE_BYTES YARN_MIB(4)

static struct yarn_switch_runs *have_runs(struct yarn_pipeline_shared *shared, bool are_late)
{
    struct yarn_switch_runs *runs = shared ? yarn_spares_take(&shared->runs) : NULL;
    if (runs)
        yarn_switch_runs_renew(runs, are_late);
    return runs ? runs : yarn_switch_runs_new(are_late);
}

static void leave_runs(struct yarn_pipeline *pipeline)
{
    struct yarn_spares *spares = pipeline->shared ? &pipeline->shared->runs : NULL;
    if (pipeline->runs && !yarn_spares_keep(spares, pipeline->runs))
        yarn_switch_runs_free(pipeline->runs);
    pipeline->runs = NULL;
}

int yarn_pipeline_open(struct yarn_pipeline *pipeline, struct yarn_process_dump *dump,
                       struct yarn_pipeline_shared *shared)
{
    const struct yarn_session *session = dump->session;
    *pipeline = (struct yarn_pipeline){
        .dump = dump,
        .pid = (uint32_t)session->request->pid,
        .reader_tid = (uint32_t)session->own_tid,
        .queue = YARN_QUEUE_CLOSED,
        .shared = shared,
    };
    int err = yarn_module_map_new(&pipeline->map, session->request->target,
                                  shared ? &shared->images : NULL);
    if (!err)
        err = yarn_unwinder_new(&pipeline->unwinder, dump->job->options.unwinder, pipeline->map);
    if (!err && dump->job->options.jit[0])
        yarn_unwinder_expect_code(pipeline->unwinder);
    if (!err)
        err = yarn_frame_names_open(&pipeline->names, pipeline->map, &dump->job->facts, shared);
    yarn_queue_open(&pipeline->queue, QUEUE_BYTES);
    if (!err && yarn_session_records_switches(session))
        pipeline->runs = have_runs(shared, session->threads);
    if (!err)
        err = yarn_stacks_open(&pipeline->stacks, pipeline->map, &pipeline->names);
    pipeline->walks = (struct yarn_walks){.map = pipeline->map, .unwinder = pipeline->unwinder};
    if (err)
        yarn_pipeline_close(pipeline);
    return err;
}

void yarn_pipeline_close(struct yarn_pipeline *pipeline)
{
    yarn_off_cpu_close(&pipeline->off_cpu);
    yarn_edges_close(&pipeline->edges);
    leave_runs(pipeline);
    yarn_stacks_close(&pipeline->stacks);
    yarn_queue_close(&pipeline->queue);
    yarn_frame_names_close(&pipeline->names);
    yarn_unwinder_free(pipeline->unwinder);
    yarn_module_map_free(pipeline->map);
    pipeline->unwinder = NULL;
    pipeline->map = NULL;
}

static bool is_generated(const struct yarn_frames *frames)
{
    for (unsigned i = 0; i < frames->count; i++)
        if (yarn_frame_is_generated(&frames->frame[i]))
            return true;
    return false;
}

_Static_assert(YARN_RECORD_NO_EVENT == YARN_DUMP_NONE, "both are of no event");

static struct yarn_queued *reserve(struct yarn_pipeline *pipeline)
{
    struct yarn_queued *queued = yarn_queue_reserve(&pipeline->queue);
    if (queued)
        return queued;
    yarn_pipeline_store_queued(pipeline, UINT64_MAX);
    return yarn_queue_reserve(&pipeline->queue);
}

/* Not ours, as a clock of the whole core has it, too, nor a thread in the kernel that has no number
 * any more. */
static bool is_of_host(const struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    return record->perf.pid == pipeline->pid && record->perf.tid != pipeline->reader_tid &&
           record->perf.tid != UINT32_MAX;
}

/* Of a thread of the process, at a time that is covered. */
static bool is_wanted(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    if (record->perf.pid != pipeline->pid) {
        yarn_account_count(pipeline->dump->account, YARN_DUMP_TOTAL_FOREIGN, 1);
        return false;
    }
    return is_of_host(pipeline, record) &&
           !yarn_coverage_excludes(&pipeline->dump->account->coverage, record->perf.time);
}

/* False where the writer began a new epoch on the way: the first frames are of none now. */
static bool fill_branches(struct yarn_pipeline *pipeline, struct yarn_dump_writer *writer,
                          size_t from, struct yarn_dump_branch *ret_rows, size_t count)
{
    struct yarn_stack_store *stacks = &pipeline->stacks;
    const struct yarn_edges *edges = &pipeline->edges;
    uint32_t epoch = yarn_dump_writer_epoch(writer);
    for (size_t i = 0; i < count; i++) {
        const struct yarn_edge *edge = &edges->edges[from + i];
        ret_rows[i] = (struct yarn_dump_branch){
            .time_ns = edges->until_ns,
            .event = edge->event,
            .tid = edge->tid,
            .from = yarn_stacks_frame_at(stacks, writer, edge->from, edges->until_ns),
            .to = yarn_stacks_frame_at(stacks, writer, edge->to, edges->until_ns),
            .count = edge->count,
            .mispredicted = edge->mispredicted,
            .cycles = edge->cycles,
        };
    }
    return epoch == yarn_dump_writer_epoch(writer);
}

/* Why at the next flush and not at once: one edge stands for thousands of branches. Code that was
 * replaced meanwhile has the new one's name. */
static void store_branches(struct yarn_pipeline *pipeline)
{
    struct yarn_dump_branch rows[BRANCHES_AT_ONCE];
    size_t left = pipeline->edges.count;
    if (left && !yarn_process_dump_begin(pipeline->dump))
        left = 0;
    struct yarn_dump_writer *writer = pipeline->dump->writer;
    for (size_t at = 0; at < left; at += BRANCHES_AT_ONCE) {
        size_t count = yarn_size_min(left - at, BRANCHES_AT_ONCE);
        while (!fill_branches(pipeline, writer, at, rows, count) && !yarn_dump_writer_error(writer))
            continue;
        yarn_dump_write_branches(writer, rows, count);
    }
    yarn_edges_clear(&pipeline->edges);
}

static void fill(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record,
                 struct yarn_queued *queued)
{
    bool had_narrow = pipeline->walks.has_narrow;
    yarn_walks_fill(&pipeline->walks, record, queued);
    if (pipeline->walks.has_narrow && !had_narrow)
        YARN_WARN(pipeline->dump->messages,
                  "32-bit code: its samples are counted, its stacks and names are not recorded");
}

static void add_branches(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    size_t at = 0;
    while (!yarn_edges_add(&pipeline->edges, record, &at))
        store_branches(pipeline);
}

static void on_sample(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    /* Of YARN_SCHED: also what threads of other processes do, which bear no number here. */
    bool is_scheduling =
        pipeline->dump->account->session->statuses[record->event].spec.is_scheduling;
    if (is_scheduling
            ? yarn_coverage_excludes(&pipeline->dump->account->coverage, record->perf.time)
            : !is_wanted(pipeline, record))
        return;
    if (pipeline->runs && !is_scheduling && is_of_host(pipeline, record))
        yarn_switch_runs_on_run(pipeline->runs, record);
    struct yarn_queued *queued = reserve(pipeline);
    if (!queued) {
        yarn_account_drop(pipeline->dump->account);
        return;
    }
    add_branches(pipeline, record);
    queued->sample.time_ns = record->perf.time;
    queued->sample.weight = record->perf.period;
    queued->sample.event = record->event;
    queued->sample.tid = is_of_host(pipeline, record) ? record->perf.tid : 0;
    queued->sample.cpu = record->perf.cpu;
    queued->sample.address = record->perf.addr;
    queued->sample.latency = record->perf.weight;
    queued->sample.data_source = record->perf.data_src;
    if (is_scheduling)
        yarn_queued_frames(queued)->end = YARN_STACK_END_ABSENT;
    else
        fill(pipeline, record, queued);
    yarn_queued_set_raw(queued, &record->perf.raw);
    yarn_queue_commit(&pipeline->queue, queued);
    /* Why at once: other code may stand at the same address a moment later. */
    pipeline->is_in_sample = is_generated(queued->frames);
    if (pipeline->is_in_sample)
        yarn_pipeline_store_queued(pipeline, UINT64_MAX);
    pipeline->is_in_sample = false;
}

static void store(struct yarn_pipeline *pipeline, struct yarn_queued *queued)
{
    struct yarn_dump_writer *writer = pipeline->dump->writer;
    const struct yarn_queue *queue = pipeline->is_in_sample ? NULL : &pipeline->queue;
    bool is_leaf_unknown = yarn_stacks_intern(&pipeline->stacks, writer, queue, queued);
    yarn_dump_write_sample(writer, &queued->sample);
    yarn_account_sample(pipeline->dump->account, &queued->sample, is_leaf_unknown);
}

bool yarn_pipeline_store_queued(struct yarn_pipeline *pipeline, uint64_t until_ns)
{
    struct yarn_queued *queued;
    const struct yarn_stack_store *stacks = &pipeline->stacks;
    size_t nr_modules = stacks->written.count;
    uint64_t checked_at = stacks->nr_frames_added;
    pipeline->names.files.has_asked = false;
    while ((queued = yarn_queue_take(&pipeline->queue))) {
        if (yarn_process_dump_begin(pipeline->dump))
            store(pipeline, queued);
        bool is_much = stacks->nr_frames_added - checked_at >= FRAMES_PER_CHECK ||
                       stacks->written.count != nr_modules;
        if (!is_much || until_ns == UINT64_MAX)
            continue;
        checked_at = stacks->nr_frames_added;
        nr_modules = stacks->written.count;
        if (yarn_clock_ns(YARN_TIME_MONOTONIC) >= until_ns)
            break;
    }
    return yarn_queue_is_empty(&pipeline->queue);
}

/* Stores all queued samples first. Why a module's file stays open until the next flush: by then the
 * rings have been drained of all that was sampled in it. */
void yarn_pipeline_flush(struct yarn_pipeline *pipeline, bool is_last)
{
    struct yarn_file_names *files = &pipeline->names.files;
    yarn_file_names_hurry(files, is_last);
    yarn_pipeline_store_queued(pipeline, UINT64_MAX);
    store_branches(pipeline);
    if (pipeline->edges.nr_lost)
        YARN_WARN(pipeline->dump->messages, "no memory for branches: some are missing");
    pipeline->edges.nr_lost = 0;
    if (is_last || !files->has_asked)
        yarn_file_names_ask(files, pipeline->dump->writer);
    pipeline->dump->account->totals.value[YARN_DUMP_TOTAL_FRAMES_UNNAMED] = files->nr_unnamed;
    if (pipeline->dump->writer)
        yarn_stacks_learn(&pipeline->stacks, pipeline->dump->writer);
    yarn_file_names_clear(files);
    yarn_module_map_sweep(pipeline->map);
    yarn_symbols_sweep(files->symbols);
    yarn_module_map_rest(pipeline->map);
}

void yarn_pipeline_load_modules(struct yarn_pipeline *pipeline)
{
    for (uint32_t i = 0; i < yarn_module_map_count(pipeline->map); i++)
        yarn_module_map_find(pipeline->map, yarn_module_map_at(pipeline->map, i)->start);
    yarn_module_map_read_tables(pipeline->map);
    yarn_module_map_rest(pipeline->map);
}

static void on_mapping(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    const struct yarn_record_mmap *map = record->mmap;
    if (map->pid != pipeline->pid || !(map->protection & PROT_EXEC))
        return;
    struct yarn_mapping mapping = {
        .start = map->start,
        .end = map->start + map->size,
        .file_offset = map->file_offset,
        .device = map->device,
        .inode = map->inode,
        .time_ns = record->perf.time,
        .path = map->path,
    };
    if (yarn_module_map_add(pipeline->map, &mapping))
        yarn_account_count(pipeline->dump->account, YARN_DUMP_TOTAL_RECORDS_BAD, 1);
}

static void on_thread(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    if (record->task.pid != pipeline->pid)
        return;
    struct yarn_thread_snapshot *threads = &pipeline->dump->account->threads;
    if (record->type == YARN_RECORD_EXIT)
        yarn_waits_on_end(&pipeline->off_cpu.waits, record->task.tid, record->perf.time);
    if (record->type == YARN_RECORD_EXIT && pipeline->runs) {
        yarn_switch_runs_on_run(pipeline->runs, record);
        yarn_switch_runs_on_exit(pipeline->runs, record->task.tid, record->perf.time);
    }
    if (record->type == YARN_RECORD_FORK && pipeline->runs)
        yarn_switch_runs_on_birth(pipeline->runs, record->task.tid, record->perf.time);
    /* Samples that wait to be named may be its own. */
    if (!yarn_queue_is_empty(&pipeline->queue) && !yarn_process_dump_begin(pipeline->dump))
        return;
    if (record->type == YARN_RECORD_EXIT) {
        pipeline->saw_thread_end = true;
        yarn_thread_snapshot_on_exit(threads, pipeline->dump->writer, (pid_t)record->task.tid,
                                     record->perf.time);
        return;
    }
    const struct yarn_dump_thread thread = {
        .tid = record->task.tid,
        .parent_tid = record->task.parent_tid,
        .time_ns = record->perf.time,
    };
    yarn_thread_snapshot_on_begin(threads, pipeline->dump->writer, &thread);
}

static void on_comm(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    if (!pipeline->dump->writer || record->comm.pid != pipeline->pid)
        return;
    struct yarn_dump_thread_name name = {
        .tid = record->comm.tid,
        .time_ns = record->perf.time,
        .comm = yarn_span_of_text(record->comm.name),
    };
    yarn_dump_write_thread_name(pipeline->dump->writer, &name);
}

void yarn_pipeline_lose(struct yarn_pipeline *pipeline, uint64_t time_ns)
{
    yarn_waits_lose(&pipeline->off_cpu.waits, time_ns);
    if (pipeline->runs)
        yarn_switch_runs_on_lost(pipeline->runs);
}

static void on_lost(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    struct yarn_dump_lost lost = {
        .time_ns = record->perf.time,
        .count = record->lost.count,
        .event = record->event,
        .cpu = record->perf.cpu,
    };
    pipeline->dump->account->nr_lost += lost.count;
    yarn_pipeline_lose(pipeline, lost.time_ns);
    if (yarn_process_dump_begin(pipeline->dump))
        yarn_dump_write_lost(pipeline->dump->writer, &lost);
}

static void on_throttle(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    struct yarn_dump_throttle throttle = {
        .time_ns = record->perf.time,
        .event = record->event,
        .cpu = record->perf.cpu,
        .is_on = record->throttle.is_on,
    };
    yarn_account_count(pipeline->dump->account, YARN_DUMP_TOTAL_THROTTLED, throttle.is_on);
    if (yarn_process_dump_begin(pipeline->dump))
        yarn_dump_write_throttle(pipeline->dump->writer, &throttle);
}

static void on_switch(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    const struct yarn_record *perf = &record->perf;
    struct yarn_waits *waits = &pipeline->off_cpu.waits;
    if (is_of_host(pipeline, record) && record->switched.is_out)
        yarn_waits_on_out(waits, perf->tid, perf->time, record->switched.is_preempted);
    else if (is_of_host(pipeline, record))
        yarn_waits_on_in(waits, perf->tid, perf->time, perf->cpu);
    if (!pipeline->runs || !is_wanted(pipeline, record))
        return;
    if (yarn_switch_runs_on_switch(pipeline->runs, record) &&
        yarn_process_dump_begin(pipeline->dump))
        yarn_switch_runs_write(pipeline->runs, pipeline->dump->writer);
}

typedef void (*handle_fn)(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record);

/* NULL: not stored. */
static const handle_fn handlers[YARN_RECORD_TYPE_COUNT] = {
    [YARN_RECORD_SAMPLE] = on_sample,     [YARN_RECORD_MMAP] = on_mapping,
    [YARN_RECORD_FORK] = on_thread,       [YARN_RECORD_EXIT] = on_thread,
    [YARN_RECORD_COMM] = on_comm,         [YARN_RECORD_LOST] = on_lost,
    [YARN_RECORD_THROTTLE] = on_throttle, [YARN_RECORD_SWITCH] = on_switch,
};

static void on_record(void *self, const struct yarn_typed_record *record)
{
    struct yarn_pipeline *pipeline = self;
    if (handlers[record->type])
        handlers[record->type](pipeline, record);
    if (record->type == YARN_RECORD_UNKNOWN)
        yarn_account_count(pipeline->dump->account, YARN_DUMP_TOTAL_RECORDS_UNKNOWN, 1);
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    struct yarn_pipeline *pipeline = self;
    (void)kernel_type;
    (void)size;
    yarn_account_count(pipeline->dump->account, YARN_DUMP_TOTAL_RECORDS_BAD, 1);
}

struct yarn_record_listener yarn_pipeline_listener(struct yarn_pipeline *pipeline)
{
    return (struct yarn_record_listener){
        .self = pipeline, .record = on_record, .malformed = on_malformed};
}
