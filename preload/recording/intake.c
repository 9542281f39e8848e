/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/recording/intake.h"

#include <sys/mman.h>

#include "core/sys/clock.h"

/* New frames to name before the clock is looked at; a new module's symbols count as many. */
enum { FRAMES_PER_LOOK = 16 };

static bool is_generated(const struct yarn_frames *frames)
{
    for (unsigned i = 0; i < frames->count; i++)
        if (yarn_frame_is_generated(&frames->frame[i]))
            return true;
    return false;
}

_Static_assert(YARN_RECORD_NO_EVENT == YARN_DUMP_NONE, "both are of no event");

static void on_sample(struct yarn_recording *recording, const struct yarn_record *record)
{
    if (record->pid != (uint32_t)recording->job->facts.pid) {
        recording->totals.value[YARN_DUMP_TOTAL_FOREIGN]++;
        return;
    }
    /* By a clock of the whole core: ours, or a thread in the kernel that has no number any more. */
    if (record->tid == (uint32_t)recording->own_tid || record->tid == UINT32_MAX)
        return;
    if (yarn_coverage_excludes(&recording->coverage, record->time_ns))
        return;
    const struct yarn_walks *walks = &recording->walks;
    const struct yarn_frames *frames = yarn_walks_of(&recording->walks, record);
    struct yarn_queued *queued = yarn_queue_put(&recording->queue, frames->count, walks->nr_kernel);
    if (!queued) {
        yarn_intake_settle(recording, UINT64_MAX);
        queued = yarn_queue_put(&recording->queue, frames->count, walks->nr_kernel);
    }
    if (!queued) {
        recording->nr_dropped++;
        recording->totals.value[YARN_DUMP_TOTAL_LOST]++;
        return;
    }
    queued->time_ns = record->time_ns;
    queued->weight = record->sample.period;
    queued->event = record->event;
    queued->tid = record->tid;
    queued->cpu = record->cpu;
    queued->end = frames->end;
    memcpy(queued->frame, frames->frame, frames->count * sizeof frames->frame[0]);
    memcpy(queued->kernel, walks->kernel, walks->nr_kernel * sizeof walks->kernel[0]);
    /* Why at once: other code may stand at the same address a moment later. */
    if (is_generated(frames))
        yarn_intake_settle(recording, UINT64_MAX);
}

static void store(struct yarn_recording *recording, const struct yarn_queued *queued)
{
    struct yarn_stack_result stack = yarn_stacks_of(&recording->stacks, queued);
    struct yarn_dump_sample sample = {
        .time_ns = queued->time_ns,
        .weight = queued->weight,
        .event = queued->event,
        .tid = queued->tid,
        .cpu = queued->cpu,
        .stack = stack.stack,
        .stack_end = queued->end,
    };
    yarn_dump_write_sample(recording->writer, &sample);
    recording->totals.value[YARN_DUMP_TOTAL_SAMPLES]++;
    recording->totals.value[YARN_DUMP_TOTAL_STACKS_COMPLETE + queued->end]++;
    recording->totals.value[YARN_DUMP_TOTAL_FRAMES_UNKNOWN] += stack.is_leaf_unknown;
    if (queued->event == recording->clock_event)
        recording->sampled_ns += sample.weight;
}

bool yarn_intake_settle(struct yarn_recording *recording, uint64_t until_ns)
{
    struct yarn_queued *queued;
    const struct yarn_stacks *stacks = &recording->stacks;
    size_t nr_modules = stacks->written.count;
    uint64_t looked_at = stacks->nr_frames_added;
    while ((queued = yarn_queue_take(&recording->queue))) {
        if (yarn_recording_begin_dump(recording))
            store(recording, queued);
        bool is_much = stacks->nr_frames_added - looked_at >= FRAMES_PER_LOOK ||
                       stacks->written.count != nr_modules;
        if (!is_much || until_ns == UINT64_MAX)
            continue;
        looked_at = stacks->nr_frames_added;
        nr_modules = stacks->written.count;
        if (yarn_clock_ns(YARN_TIME_MONOTONIC) >= until_ns)
            break;
    }
    return yarn_queue_is_empty(&recording->queue);
}

static void on_mapping(struct yarn_recording *recording, const struct yarn_record *record)
{
    const struct yarn_record_mmap *map = record->mmap;
    if (map->pid != (uint32_t)recording->job->facts.pid || !(map->protection & PROT_EXEC))
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
    if (yarn_module_map_add(recording->map, &mapping))
        recording->totals.value[YARN_DUMP_TOTAL_RECORDS_BAD]++;
}

static void on_thread(struct yarn_recording *recording, const struct yarn_record *record)
{
    if (record->task.pid != (uint32_t)recording->job->facts.pid)
        return;
    pid_t tid = (pid_t)record->task.tid;
    /* Samples that wait to be named may be its own. */
    if (!yarn_queue_is_empty(&recording->queue) && !yarn_recording_begin_dump(recording))
        return;
    if (record->type == YARN_RECORD_EXIT) {
        recording->saw_thread_end = true;
        yarn_thread_snapshot_on_exit(recording, tid, record->time_ns);
        return;
    }
    yarn_thread_snapshot_on_begin(&recording->snapshot, tid);
    if (!recording->writer)
        return;
    struct yarn_dump_thread thread = {
        .tid = record->task.tid,
        .parent_tid = record->task.parent_tid,
        .time_ns = record->time_ns,
    };
    yarn_dump_write_thread(recording->writer, &thread);
}

static void on_comm(struct yarn_recording *recording, const struct yarn_record *record)
{
    if (!recording->writer || record->comm.pid != (uint32_t)recording->job->facts.pid)
        return;
    struct yarn_dump_thread_name name = {
        .tid = record->comm.tid,
        .time_ns = record->time_ns,
        .comm = yarn_span_of_text(record->comm.name),
    };
    yarn_dump_write_thread_name(recording->writer, &name);
}

static void on_lost(struct yarn_recording *recording, const struct yarn_record *record)
{
    struct yarn_dump_lost lost = {
        .time_ns = record->time_ns,
        .count = record->lost.count,
        .event = record->event,
        .cpu = record->cpu,
    };
    recording->totals.value[YARN_DUMP_TOTAL_LOST] += lost.count;
    if (yarn_recording_begin_dump(recording))
        yarn_dump_write_lost(recording->writer, &lost);
}

static void on_throttle(struct yarn_recording *recording, const struct yarn_record *record)
{
    struct yarn_dump_throttle throttle = {
        .time_ns = record->time_ns,
        .event = record->event,
        .cpu = record->cpu,
        .is_on = record->throttle.is_on,
    };
    recording->totals.value[YARN_DUMP_TOTAL_THROTTLED] += throttle.is_on;
    if (yarn_recording_begin_dump(recording))
        yarn_dump_write_throttle(recording->writer, &throttle);
}

static void on_record(void *self, const struct yarn_record *record)
{
    struct yarn_recording *recording = self;
    switch (record->type) {
    case YARN_RECORD_SAMPLE:
        on_sample(recording, record);
        break;
    case YARN_RECORD_MMAP:
        on_mapping(recording, record);
        break;
    case YARN_RECORD_FORK:
    case YARN_RECORD_EXIT:
        on_thread(recording, record);
        break;
    case YARN_RECORD_COMM:
        on_comm(recording, record);
        break;
    case YARN_RECORD_LOST:
        on_lost(recording, record);
        break;
    case YARN_RECORD_THROTTLE:
        on_throttle(recording, record);
        break;
    case YARN_RECORD_SWITCH:
    case YARN_RECORD_OTHER:
        break; /* not stored */
    case YARN_RECORD_UNKNOWN:
    case YARN_RECORD_TYPE_COUNT:
        recording->totals.value[YARN_DUMP_TOTAL_RECORDS_UNKNOWN]++;
        break;
    }
}

static void on_malformed(void *self, uint32_t kernel_type, size_t size)
{
    struct yarn_recording *recording = self;
    (void)kernel_type;
    (void)size;
    recording->totals.value[YARN_DUMP_TOTAL_RECORDS_BAD]++;
}

struct yarn_record_listener yarn_intake_of(struct yarn_recording *recording)
{
    return (struct yarn_record_listener){
        .self = recording, .record = on_record, .malformed = on_malformed};
}
