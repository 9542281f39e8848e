/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/pipeline/pipeline.h"

#include <sys/mman.h>

#include "core/sys/clock.h"

/* New frames to name before the clock is looked at; a new module's symbols count as many. */
enum { FRAMES_PER_LOOK = 16 };
#define QUEUE_BYTES YARN_MIB(4)

int yarn_pipeline_open(struct yarn_pipeline *pipeline, const struct yarn_pipeline_spec *spec)
{
    *pipeline = (struct yarn_pipeline){.spec = *spec, .queue = YARN_QUEUE_CLOSED};
    int err = yarn_module_map_new(&pipeline->map, spec->proc);
    if (!err)
        err = yarn_unwinder_new(&pipeline->unwinder, spec->unwinder, pipeline->map);
    if (!err)
        err = yarn_frame_names_open(&pipeline->names, pipeline->map, spec->facts);
    yarn_queue_open(&pipeline->queue, QUEUE_BYTES);
    if (!err && spec->has_switches)
        pipeline->runs = yarn_switch_runs_new(spec->are_late);
    if (!err)
        err = yarn_stacks_open(&pipeline->stacks, pipeline->map, &pipeline->names);
    pipeline->walks = (struct yarn_walks){.map = pipeline->map, .unwinder = pipeline->unwinder};
    if (err)
        yarn_pipeline_close(pipeline);
    return err;
}

void yarn_pipeline_close(struct yarn_pipeline *pipeline)
{
    yarn_looks_close(&pipeline->looks);
    yarn_edges_close(&pipeline->edges);
    yarn_switch_runs_free(pipeline->runs);
    pipeline->runs = NULL;
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
    yarn_pipeline_settle(pipeline, UINT64_MAX);
    return yarn_queue_reserve(&pipeline->queue);
}

/* Of a thread of the process, at a time that is covered. */
static bool is_wanted(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    const struct yarn_pipeline_spec *spec = &pipeline->spec;
    if (record->pid != (uint32_t)spec->facts->pid) {
        yarn_account_count(spec->account, YARN_DUMP_TOTAL_FOREIGN, 1);
        return false;
    }
    /* By a clock of the whole core: ours, or a thread in the kernel that has no number any more. */
    if (record->tid == (uint32_t)spec->reader_tid || record->tid == UINT32_MAX)
        return false;
    return !yarn_coverage_excludes(&spec->account->coverage, record->time_ns);
}

/* Of YARN_SCHED: also what threads of other processes do, which bear no number here. */
static bool is_of_scheduling(const struct yarn_pipeline *pipeline,
                             const struct yarn_typed_record *record)
{
    return pipeline->spec.account->session->specs[record->event].spec.is_scheduling;
}

static bool is_of_host(const struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    return record->pid == (uint32_t)pipeline->spec.facts->pid &&
           record->tid != (uint32_t)pipeline->spec.reader_tid && record->tid != UINT32_MAX;
}

static void store_branches(struct yarn_pipeline *pipeline)
{
    if (pipeline->edges.count && yarn_process_dump_begin(pipeline->spec.dump))
        yarn_branches_store(&pipeline->edges, &pipeline->stacks, pipeline->spec.dump->writer);
    yarn_edges_clear(&pipeline->edges);
}

static void report_lost_branches(struct yarn_pipeline *pipeline)
{
    if (pipeline->edges.nr_lost)
        yarn_messages_add(pipeline->spec.dump->messages, YARN_DUMP_MESSAGE_WARNING,
                          "no memory for branches: some are missing", NULL);
    pipeline->edges.nr_lost = 0;
}

static void add_branches(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    size_t at = 0;
    while (!yarn_edges_add(&pipeline->edges, record, &at))
        store_branches(pipeline);
}

static void on_sample(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    bool is_scheduling = is_of_scheduling(pipeline, record);
    if (is_scheduling ? yarn_coverage_excludes(&pipeline->spec.account->coverage, record->time_ns)
                      : !is_wanted(pipeline, record))
        return;
    struct yarn_queued *queued = reserve(pipeline);
    if (!queued) {
        yarn_account_drop(pipeline->spec.account);
        return;
    }
    add_branches(pipeline, record);
    queued->time_ns = record->time_ns;
    queued->weight = record->sample.period;
    queued->event = record->event;
    queued->tid = is_of_host(pipeline, record) ? record->tid : 0;
    queued->cpu = record->cpu;
    queued->address = record->sample.address;
    queued->latency = record->sample.latency;
    queued->data_source = record->sample.data_source;
    if (is_scheduling)
        yarn_queued_frames(queued)->end = YARN_UNWIND_NONE;
    else
        yarn_walks_fill(&pipeline->walks, record, queued);
    yarn_queued_set_raw(queued, &record->sample.raw);
    yarn_queue_commit(&pipeline->queue, queued);
    /* Why at once: other code may stand at the same address a moment later. */
    if (is_generated(queued->frames))
        yarn_pipeline_settle(pipeline, UINT64_MAX);
}

static void store(struct yarn_pipeline *pipeline, const struct yarn_queued *queued)
{
    struct yarn_dump_writer *writer = pipeline->spec.dump->writer;
    struct yarn_stack_result stack = yarn_stacks_of(&pipeline->stacks, writer, queued);
    struct yarn_dump_sample sample = {
        .time_ns = queued->time_ns,
        .weight = queued->weight,
        .event = queued->event,
        .tid = queued->tid,
        .cpu = queued->cpu,
        .stack = stack.stack,
        .stack_end = yarn_stacks_end(queued->frames->end),
        .address = queued->address,
        .latency = queued->latency,
        .data_source = queued->data_source,
        .raw = yarn_queued_raw(queued),
    };
    yarn_dump_write_sample(writer, &sample);
    yarn_account_sample(pipeline->spec.account, &sample, stack.is_leaf_unknown);
}

bool yarn_pipeline_settle(struct yarn_pipeline *pipeline, uint64_t until_ns)
{
    struct yarn_queued *queued;
    const struct yarn_stack_store *stacks = &pipeline->stacks;
    size_t nr_modules = stacks->written.count;
    uint64_t looked_at = stacks->nr_frames_added;
    while ((queued = yarn_queue_take(&pipeline->queue))) {
        if (yarn_process_dump_begin(pipeline->spec.dump))
            store(pipeline, queued);
        bool is_much = stacks->nr_frames_added - looked_at >= FRAMES_PER_LOOK ||
                       stacks->written.count != nr_modules;
        if (!is_much || until_ns == UINT64_MAX)
            continue;
        looked_at = stacks->nr_frames_added;
        nr_modules = stacks->written.count;
        if (yarn_clock_ns(YARN_TIME_MONOTONIC) >= until_ns)
            break;
    }
    return yarn_queue_is_empty(&pipeline->queue);
}

/* Stores all queued samples first. Why a module's file stays open until the next flush: by then the
 * rings have been drained of all that was sampled in it. */
void yarn_pipeline_flush(struct yarn_pipeline *pipeline)
{
    yarn_pipeline_settle(pipeline, UINT64_MAX);
    store_branches(pipeline);
    report_lost_branches(pipeline);
    yarn_module_map_sweep(pipeline->map);
    yarn_symbols_sweep(pipeline->names.symbols);
    yarn_module_map_rest(pipeline->map);
}

void yarn_pipeline_load_modules(struct yarn_pipeline *pipeline)
{
    for (uint32_t i = 0; i < yarn_module_map_count(pipeline->map); i++)
        yarn_module_map_find(pipeline->map, yarn_module_map_at(pipeline->map, i)->start);
    yarn_module_map_rest(pipeline->map);
}

static void on_mapping(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    const struct yarn_record_mmap *map = record->mmap;
    if (map->pid != (uint32_t)pipeline->spec.facts->pid || !(map->protection & PROT_EXEC))
        return;
    struct yarn_mapping mapping = {
        .start = map->start,
        .end = map->start + map->size,
        .file_offset = map->file_offset,
        .device = map->device,
        .inode = map->inode,
        .time_ns = record->time_ns,
        .path = map->path,
    };
    if (yarn_module_map_add(pipeline->map, &mapping))
        yarn_account_count(pipeline->spec.account, YARN_DUMP_TOTAL_RECORDS_BAD, 1);
}

static void on_thread(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    if (record->task.pid != (uint32_t)pipeline->spec.facts->pid)
        return;
    pid_t tid = (pid_t)record->task.tid;
    if (record->type == YARN_RECORD_EXIT && pipeline->runs)
        yarn_switch_runs_on_exit(pipeline->runs, record->task.tid, record->time_ns);
    if (record->type == YARN_RECORD_FORK && pipeline->runs)
        yarn_switch_runs_on_birth(pipeline->runs, record->task.tid, record->time_ns);
    /* Samples that wait to be named may be its own. */
    if (!yarn_queue_is_empty(&pipeline->queue) && !yarn_process_dump_begin(pipeline->spec.dump))
        return;
    if (record->type == YARN_RECORD_EXIT) {
        pipeline->saw_thread_end = true;
        yarn_thread_snapshot_on_exit(&pipeline->spec.account->threads, pipeline->spec.dump->writer,
                                     tid, record->time_ns);
        return;
    }
    yarn_thread_snapshot_on_begin(&pipeline->spec.account->threads, tid, record->task.parent_tid,
                                  record->time_ns);
    if (!pipeline->spec.dump->writer)
        return;
    struct yarn_dump_thread thread = {
        .tid = record->task.tid,
        .parent_tid = record->task.parent_tid,
        .time_ns = record->time_ns,
    };
    yarn_dump_write_thread(pipeline->spec.dump->writer, &thread);
}

static void on_comm(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    if (!pipeline->spec.dump->writer || record->comm.pid != (uint32_t)pipeline->spec.facts->pid)
        return;
    struct yarn_dump_thread_name name = {
        .tid = record->comm.tid,
        .time_ns = record->time_ns,
        .comm = yarn_span_of_text(record->comm.name),
    };
    yarn_dump_write_thread_name(pipeline->spec.dump->writer, &name);
}

static void on_lost(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    struct yarn_dump_lost lost = {
        .time_ns = record->time_ns,
        .count = record->lost.count,
        .event = record->event,
        .cpu = record->cpu,
    };
    pipeline->spec.account->nr_lost += lost.count;
    if (pipeline->runs)
        yarn_switch_runs_on_lost(pipeline->runs);
    if (yarn_process_dump_begin(pipeline->spec.dump))
        yarn_dump_write_lost(pipeline->spec.dump->writer, &lost);
}

static void on_throttle(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    struct yarn_dump_throttle throttle = {
        .time_ns = record->time_ns,
        .event = record->event,
        .cpu = record->cpu,
        .is_on = record->throttle.is_on,
    };
    yarn_account_count(pipeline->spec.account, YARN_DUMP_TOTAL_THROTTLED, throttle.is_on);
    if (yarn_process_dump_begin(pipeline->spec.dump))
        yarn_dump_write_throttle(pipeline->spec.dump->writer, &throttle);
}

static void on_switch(struct yarn_pipeline *pipeline, const struct yarn_typed_record *record)
{
    if (!pipeline->runs || !is_wanted(pipeline, record))
        return;
    yarn_switch_runs_on_switch(pipeline->runs, record);
    if (yarn_switch_runs_are_many(pipeline->runs) && yarn_process_dump_begin(pipeline->spec.dump))
        yarn_switch_runs_write(pipeline->runs, pipeline->spec.dump->writer);
}

static void on_record(void *self, const struct yarn_typed_record *record)
{
    struct yarn_pipeline *pipeline = self;
    yarn_looks_on_record(&pipeline->looks, record);
    switch (record->type) {
    case YARN_RECORD_SAMPLE:
        on_sample(pipeline, record);
        break;
    case YARN_RECORD_MMAP:
        on_mapping(pipeline, record);
        break;
    case YARN_RECORD_FORK:
    case YARN_RECORD_EXIT:
        on_thread(pipeline, record);
        break;
    case YARN_RECORD_COMM:
        on_comm(pipeline, record);
        break;
    case YARN_RECORD_LOST:
        on_lost(pipeline, record);
        break;
    case YARN_RECORD_THROTTLE:
        on_throttle(pipeline, record);
        break;
    case YARN_RECORD_SWITCH:
        on_switch(pipeline, record);
        break;
    case YARN_RECORD_OTHER:
        break; /* not stored */
    case YARN_RECORD_UNKNOWN:
    case YARN_RECORD_TYPE_COUNT:
        yarn_account_count(pipeline->spec.account, YARN_DUMP_TOTAL_RECORDS_UNKNOWN, 1);
        break;
    }
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    struct yarn_pipeline *pipeline = self;
    (void)kernel_type;
    (void)size;
    yarn_account_count(pipeline->spec.account, YARN_DUMP_TOTAL_RECORDS_BAD, 1);
}

struct yarn_record_listener yarn_pipeline_listener(struct yarn_pipeline *pipeline)
{
    return (struct yarn_record_listener){
        .self = pipeline, .record = on_record, .malformed = on_malformed};
}
