/* SPDX-License-Identifier: Apache-2.0 */
#include "output/base/array.h"
#include "output/dump/reader.h"
#include "output/store/spill.h"
#include "output/store/stream.h"

enum { ENTRIES_FEW = 4096 }; /* of a process in memory, where others fill it */

static bool are_too_many(const struct yarn_stream_list *streams)
{
    return streams->switches_most && streams->nr_switches > streams->switches_most;
}

static int on_process(void *self, const struct yarn_dump_process *process)
{
    struct yarn_stream_reading *reading = self;
    struct yarn_stream_list *streams = reading->streams;
    if (reading->stream)
        streams->nr_in_memory += reading->stream->entries.count;
    reading->stream = NULL;
    reading->own_tid = 0;
    yarn_table_clear(&reading->by_event);
    if ((reading->nr_processes++ != reading->wanted && reading->wanted != YARN_STREAM_EACH) ||
        are_too_many(streams))
        return 0;
    struct yarn_stream *stream = yarn_stream_new();
    if (!stream || YARN_ARRAY_PUT(&streams->list, &streams->count, &streams->capacity, &stream)) {
        yarn_stream_free(stream);
        return -ENOMEM;
    }
    if (streams->nr_in_memory >= YARN_SORTER_MOST)
        stream->entries.most = ENTRIES_FEW;
    stream->entries.file = &reading->entries;
    stream->pid = process->pid;
    stream->start_ns = process->start_ns;
    reading->stream = stream;
    return 0;
}

static int on_event(void *self, const struct yarn_dump_event *event)
{
    struct yarn_stream_reading *reading = self;
    uint64_t id = event->format.size ? yarn_trace_format_id(event->format) : 0;
    if (!reading->stream || event->error)
        return 0;
    if (!id || id >= YARN_STREAM_ID_PLAIN)
        id = YARN_STREAM_ID_PLAIN + (event->number & (YARN_STREAM_ID_PLAIN - 1));
    int err = yarn_stream_add_event(reading->stream, (int)id, event->name, event->format);
    return err ? err : yarn_table_remember(&reading->by_event, event->number, (uint32_t)id);
}

static int name_thread(struct yarn_stream_reading *reading, uint32_t tid, struct yarn_span comm)
{
    if (!reading->stream)
        return 0;
    int err = yarn_stream_add_own(reading->stream, tid);
    return err ? err : yarn_stream_add_name(reading->stream, tid, comm);
}

static int on_thread(void *self, const struct yarn_dump_thread *thread)
{
    return name_thread(self, thread->tid, thread->comm);
}

static int on_thread_name(void *self, const struct yarn_dump_thread_name *thread)
{
    return name_thread(self, thread->tid, thread->comm);
}

static int on_sampler(void *self, const struct yarn_dump_sampler *sampler)
{
    struct yarn_stream_reading *reading = self;
    reading->own_tid = sampler->own_tid;
    return reading->stream && sampler->own_tid
               ? yarn_stream_add_name(reading->stream, sampler->own_tid,
                                      yarn_span_of_text("[yarn]"))
               : 0;
}

static int note_task(void *self, uint32_t raw_pid, struct yarn_span comm)
{
    const struct yarn_stream_reading *reading = self;
    struct yarn_stream *stream = reading->stream;
    return raw_pid == reading->own_tid
               ? 0
               : yarn_stream_add_name(stream, (uint32_t)yarn_stream_tid_of(stream, raw_pid), comm);
}

static bool is_own(const struct yarn_sample *sample)
{
    return sample->tid && sample->tid != YARN_DUMP_NONE;
}

/* The record's own thread, and what it says of others. */
static int read_fields(struct yarn_stream_reading *reading, const struct yarn_stream_event *event,
                       const struct yarn_sample *sample, struct yarn_entry *entry)
{
    struct yarn_stream *stream = reading->stream;
    struct yarn_span raw = yarn_span_of_bytes(sample->raw);
    uint64_t pid;
    int err = 0;
    if (yarn_trace_fields_value(event->fields, "common_pid", raw, &pid)) {
        if (is_own(sample) && pid != sample->tid)
            err = yarn_stream_add_tid(stream, (uint32_t)pid, sample->tid);
        if (!is_own(sample))
            entry->pid = (int)pid;
    }
    return err ? err : yarn_trace_fields_tasks(event->fields, raw, note_task, reading);
}

static int cpu_of(uint32_t cpu)
{
    return cpu == YARN_DUMP_NONE || cpu == UINT16_MAX ? -1 : (int)cpu;
}

static int add_sample(struct yarn_stream_reading *reading, const struct yarn_sample *sample)
{
    uint32_t id = yarn_table_find(&reading->by_event, sample->event);
    struct yarn_entry entry = {
        .time_ns = sample->time_ns,
        .event_id = (int)id,
        .pid = (int)sample->tid,
        .cpu = cpu_of(sample->cpu),
        .record_bytes = (uint32_t)sample->raw.size,
        .record_at = reading->records.size,
    };
    if (id == YARN_TABLE_NONE || (reading->streams->has_no_samples && id >= YARN_STREAM_ID_PLAIN))
        return 0;
    const struct yarn_stream_event *event = yarn_stream_event_by_id(reading->stream, (int)id);
    int err = is_own(sample) ? yarn_stream_add_own(reading->stream, sample->tid) : 0;
    if (!err && sample->raw.size && event->fields)
        err = read_fields(reading, event, sample, &entry);
    if (!err)
        err = yarn_spill_put(&reading->records, yarn_span_of_bytes(sample->raw));
    return err ? err : yarn_stream_add_entry(reading->stream, &entry);
}

static int on_samples(void *self, const struct yarn_sample *samples, size_t count)
{
    struct yarn_stream_reading *reading = self;
    int err = 0;
    for (size_t i = 0; reading->stream && !err && i < count; i++)
        err = add_sample(reading, &samples[i]);
    return err;
}

static int add_switch(struct yarn_stream *stream, const struct yarn_dump_run *run, bool is_in)
{
    struct yarn_entry entry = {
        .time_ns = run->time_ns + (is_in ? 0 : run->length_ns),
        .event_id = is_in ? YARN_STREAM_ID_IN : YARN_STREAM_ID_OUT,
        .pid = (int)run->tid,
        .cpu = cpu_of(run->cpu),
    };
    int err = yarn_stream_add_own(stream, run->tid);
    if (!err)
        err = yarn_stream_add_event(stream, entry.event_id,
                                    yarn_span_of_text(is_in ? "switch-in" : "switch-out"),
                                    YARN_SPAN_EMPTY);
    return err ? err : yarn_stream_add_entry(stream, &entry);
}

static int on_runs(void *self, const struct yarn_dump_run *runs, size_t count)
{
    struct yarn_stream_reading *reading = self;
    int err = 0;
    reading->streams->nr_switches += 2 * (uint64_t)count;
    if (are_too_many(reading->streams)) {
        yarn_stream_list_fini(reading->streams);
        reading->stream = NULL;
        reading->first = 0;
    }
    for (size_t i = 0; reading->stream && !err && i < count; i++) {
        err = add_switch(reading->stream, &runs[i], true);
        if (!err && !runs[i].is_open)
            err = add_switch(reading->stream, &runs[i], false);
    }
    return err;
}

const struct yarn_dump_visitor yarn_stream_visitor = {
    .process = on_process,
    .event = on_event,
    .thread = on_thread,
    .sampler = on_sampler,
    .thread_name = on_thread_name,
    .samples = on_samples,
    .runs = on_runs,
};

int yarn_stream_reading_begin(struct yarn_stream_reading *reading, struct yarn_stream_list *streams,
                              int64_t wanted)
{
    *reading = (struct yarn_stream_reading){.streams = streams,
                                            .first = streams->count,
                                            .entries = YARN_SPILL_CLOSED,
                                            .wanted = wanted,
                                            .by_event = YARN_TABLE_CLOSED};
    return yarn_spill_open(&reading->records);
}

int yarn_stream_reading_end(struct yarn_stream_reading *reading, const char *path, int err)
{
    const struct yarn_stream_list *streams = reading->streams;
    struct yarn_span records = YARN_SPAN_EMPTY;
    if (reading->stream)
        reading->streams->nr_in_memory += reading->stream->entries.count;
    if (!err)
        err = yarn_spill_map(&reading->records, &records);
    for (size_t i = reading->first; i < streams->count; i++) {
        streams->list[i]->records = records;
        streams->list[i]->owns_records = i == reading->first;
        if (!err)
            err = yarn_stream_finish(streams->list[i], path);
    }
    if (reading->first == streams->count)
        yarn_spill_unmap(records);
    yarn_table_close(&reading->by_event);
    yarn_spill_close(&reading->records);
    yarn_spill_close(&reading->entries);
    return err;
}

int yarn_stream_read_dump(struct yarn_stream_list *streams, const char *path, int64_t index,
                          struct yarn_text *why)
{
    struct yarn_dump_summary summary;
    struct yarn_stream_reading reading;
    int err = yarn_stream_reading_begin(&reading, streams, index);
    if (!err)
        err = yarn_dump_read_file(path, &yarn_stream_visitor, &reading, &summary);
    if (!err && reading.nr_processes <= index) {
        bool is_damaged =
            !reading.nr_processes && (summary.nr_damages || summary.records_bad || summary.is_cut);
        yarn_text_add(why, is_damaged ? "the dump is damaged, and its process is not readable"
                                      : "the dump has no such process");
        err = is_damaged ? -EBADMSG : -ENOENT;
    }
    return yarn_stream_reading_end(&reading, path, err);
}
