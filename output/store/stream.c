/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/stream.h"

#include <stdlib.h>

#include "output/base/array.h"

static bool is_before(const void *self, const void *one, const void *other)
{
    const struct yarn_entry *left = one, *right = other;
    (void)self;
    return left->time_ns != right->time_ns ? left->time_ns < right->time_ns
                                           : left->cpu < right->cpu;
}

static const struct yarn_sorter_order in_time_order = {sizeof(struct yarn_entry), is_before};

struct yarn_stream *yarn_stream_new(void)
{
    struct yarn_stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->by_id = stream->by_pid = stream->tids = YARN_TABLE_CLOSED;
    stream->entries = (struct yarn_sorter){.order = &in_time_order, .most = YARN_SORTER_MOST};
    return stream;
}

void yarn_stream_free(struct yarn_stream *stream)
{
    int saved = errno;
    if (!stream)
        return;
    for (size_t i = 0; i < stream->nr_events; i++) {
        free(stream->events[i].name);
        free(stream->events[i].format);
        free(stream->events[i].fields);
    }
    for (size_t i = 0; i < YARN_COUNT_OF(stream->texts); i++)
        free(stream->texts[i]);
    if (stream->owns_records)
        yarn_spill_unmap(stream->records);
    yarn_trace_file_close(&stream->trace);
    yarn_table_close(&stream->by_id);
    yarn_table_close(&stream->by_pid);
    yarn_table_close(&stream->tids);
    free(stream->path);
    yarn_sorter_fini(&stream->entries);
    free(stream->events);
    free(stream->tasks);
    free(stream->ids);
    free(stream);
    errno = saved;
}

static char *copy(struct yarn_span text)
{
    char *copied = malloc(text.size + 1);
    if (copied) {
        if (text.size)
            memcpy(copied, text.data, text.size);
        copied[text.size] = 0;
    }
    return copied;
}

static void find_field(const struct yarn_trace_fields *fields, const char *name,
                       struct yarn_trace_field *ret)
{
    if (!yarn_trace_fields_find(fields, yarn_span_of_text(name), ret))
        *ret = (struct yarn_trace_field){0};
}

static void find_target(struct yarn_stream_event *event)
{
    if (event->fields && strcmp(event->name, "sched/sched_switch") == 0) {
        event->kind = YARN_STREAM_SWITCH;
        find_field(event->fields, "next_pid", &event->target_pid);
    } else if (event->fields && strcmp(event->name, "sched/sched_waking") == 0) {
        event->kind = YARN_STREAM_WAKING;
        find_field(event->fields, "pid", &event->target_pid);
        find_field(event->fields, "target_cpu", &event->target_cpu);
    }
}

int yarn_stream_add_event(struct yarn_stream *stream, int id, struct yarn_span name,
                          struct yarn_span format)
{
    if (yarn_stream_event_by_id(stream, id))
        return 0;
    struct yarn_stream_event event = {.id = id, .name = copy(name)};
    event.format = format.size ? copy(format) : NULL;
    if (event.format)
        event.fields = yarn_trace_fields_new(yarn_span_of(event.format, format.size));
    if (!event.name || (format.size && !event.fields) ||
        YARN_ARRAY_RESERVE(&stream->events, &stream->events_capacity, stream->nr_events + 1)) {
        free(event.fields);
        free(event.name);
        free(event.format);
        return -ENOMEM;
    }
    char *colon = format.size ? strchr(event.name, ':') : NULL;
    if (colon)
        *colon = '/';
    find_target(&event);
    stream->events[stream->nr_events] = event;
    return yarn_table_remember(&stream->by_id, (uint32_t)id, (uint32_t)stream->nr_events++);
}

const struct yarn_stream_event *yarn_stream_event_by_id(const struct yarn_stream *stream, int id)
{
    uint32_t at = yarn_table_find(&stream->by_id, (uint32_t)id);
    return at == YARN_TABLE_NONE ? NULL : &stream->events[at];
}

const struct yarn_stream_event *yarn_stream_event_of(const struct yarn_stream *stream,
                                                     const struct yarn_entry *entry)
{
    const struct yarn_entry *origin = yarn_couplebreak_origin(entry);
    return yarn_stream_event_by_id(stream, origin ? origin->event_id : entry->event_id);
}

static int find_task(struct yarn_stream *stream, uint32_t pid, struct yarn_stream_task **ret_task)
{
    const struct yarn_stream_task none = {.has_comm = false};
    uint32_t at = yarn_table_find(&stream->by_pid, pid);
    if (at == YARN_TABLE_NONE) {
        at = (uint32_t)stream->nr_tasks;
        int err = YARN_ARRAY_PUT(&stream->tasks, &stream->nr_tasks, &stream->tasks_capacity, &none);
        if (!err)
            err = yarn_table_remember(&stream->by_pid, pid, at);
        if (err)
            return err;
    }
    *ret_task = &stream->tasks[at];
    return 0;
}

int yarn_stream_add_name(struct yarn_stream *stream, uint32_t pid, struct yarn_span comm)
{
    struct yarn_stream_task *task;
    int err = find_task(stream, pid, &task);
    if (err)
        return err;
    size_t size = yarn_size_min(comm.size, sizeof task->comm - 1);
    memcpy(task->comm, size ? comm.data : (const uint8_t *)"", size);
    memset(task->comm + size, 0, sizeof task->comm - size);
    task->has_comm = true;
    return 0;
}

const char *yarn_stream_task(const struct yarn_stream *stream, const struct yarn_entry *entry)
{
    if (!stream || !entry)
        return NULL;
    uint32_t at = yarn_table_find(&stream->by_pid, (uint32_t)entry->pid);
    if (!entry->pid)
        return "<idle>";
    return at == YARN_TABLE_NONE || !stream->tasks[at].has_comm ? "<...>" : stream->tasks[at].comm;
}

int yarn_stream_tid_of(const struct yarn_stream *stream, uint32_t raw_pid)
{
    uint32_t tid = yarn_table_find(&stream->tids, raw_pid);
    return (int)(tid == YARN_TABLE_NONE ? raw_pid : tid);
}

int yarn_stream_add_tid(struct yarn_stream *stream, uint32_t raw_pid, uint32_t tid)
{
    return yarn_table_remember(&stream->tids, raw_pid, tid);
}

int yarn_stream_add_own(struct yarn_stream *stream, uint32_t tid)
{
    struct yarn_stream_task *task;
    int err = find_task(stream, tid, &task);
    if (!err)
        task->is_own = true;
    return err;
}

bool yarn_stream_is_own(const struct yarn_stream *stream, int tid)
{
    uint32_t at = yarn_table_find(&stream->by_pid, (uint32_t)tid);
    return at != YARN_TABLE_NONE && stream->tasks[at].is_own;
}

static bool is_called(const struct yarn_stream_event *event, const char *name)
{
    const char *slash = strchr(event->name, '/');
    size_t size = strlen(event->name);
    if (strcmp(event->name, name) == 0)
        return true;
    if (!slash || strlen(name) != size)
        return false;
    size_t at = (size_t)(slash - event->name);
    return name[at] == ':' && memcmp(name, event->name, at) == 0 &&
           strcmp(name + at + 1, slash + 1) == 0;
}

int yarn_stream_find_event(const struct yarn_stream *stream, const char *name, int *ret_id)
{
    if (!stream || !name || !ret_id)
        return -EINVAL;
    for (size_t i = 0; i < stream->nr_target_ids; i++) {
        if (strcmp(yarn_couplebreak_event_name(stream->target_ids[i]), name) == 0) {
            *ret_id = stream->target_ids[i];
            return 0;
        }
    }
    for (size_t i = 0; i < stream->nr_events; i++) {
        if (is_called(&stream->events[i], name)) {
            *ret_id = stream->events[i].id;
            return 0;
        }
    }
    return -ENOENT;
}

int yarn_stream_add_entry(struct yarn_stream *stream, const struct yarn_entry *entry)
{
    return yarn_sorter_add(&stream->entries, entry);
}

int yarn_stream_finish(struct yarn_stream *stream, const char *path)
{
    stream->ids = malloc((stream->nr_events + 1) * sizeof *stream->ids);
    stream->path = strdup(path);
    if (!stream->ids || !stream->path)
        return -ENOMEM;
    for (size_t i = 0; i < stream->nr_events; i++)
        stream->ids[i] = stream->events[i].id;
    int err = yarn_sorter_sort(&stream->entries);
    if (!err)
        err = yarn_sorter_gather(&stream->entries);
    if (!err && !stream->pid && stream->entries.count)
        stream->start_ns = yarn_stream_list_of(stream)[0].time_ns;
    return err;
}

static int read_trace(struct yarn_stream_list *streams, const char *path, struct yarn_text *why)
{
    struct yarn_stream *stream = yarn_stream_new();
    int err = stream ? yarn_stream_read_trace(stream, path, why) : -ENOMEM;
    if (!err)
        err = yarn_stream_finish(stream, path);
    if (!err)
        err = YARN_ARRAY_PUT(&streams->list, &streams->count, &streams->capacity, &stream);
    if (err)
        yarn_stream_free(stream);
    return err;
}

int yarn_stream_list_read(struct yarn_stream_list *streams, const char *path, int64_t index,
                          struct yarn_text *why)
{
    int err = read_trace(streams, path, why);
    if (!err && index > 0)
        err = -ENOENT;
    return err == -ENOEXEC ? yarn_stream_read_dump(streams, path, index, why) : err;
}

void yarn_stream_list_fini(struct yarn_stream_list *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        yarn_stream_free(streams->list[i]);
    free(streams->list);
    streams->list = NULL;
    streams->count = streams->capacity = 0;
}

int yarn_stream_open(const char *path, unsigned index, struct yarn_stream **ret_stream)
{
    char buffer[256];
    struct yarn_text why = yarn_text_of(buffer, sizeof buffer);
    int saved = errno;
    struct yarn_stream_list one = {0};
    int err = path && ret_stream ? yarn_stream_list_read(&one, path, index, &why) : -EINVAL;
    if (!err) {
        *ret_stream = one.list[0];
        one.count = 0;
    }
    yarn_stream_list_fini(&one);
    errno = saved;
    return err;
}

const struct yarn_entry *yarn_stream_entries(const struct yarn_stream *stream, size_t *ret_count)
{
    if (ret_count)
        *ret_count = stream ? stream->entries.count : 0;
    return stream ? stream->entries.list : NULL;
}

const int *yarn_stream_event_ids(const struct yarn_stream *stream, size_t *ret_count)
{
    if (ret_count)
        *ret_count = stream ? stream->nr_events : 0;
    return stream ? stream->ids : NULL;
}

uint32_t yarn_stream_pid(const struct yarn_stream *stream)
{
    return stream ? stream->pid : 0;
}

struct yarn_span yarn_stream_record(const struct yarn_stream *stream,
                                    const struct yarn_entry *entry)
{
    return yarn_span_sub(stream->records, entry->record_at, entry->record_bytes);
}

const void *yarn_stream_raw(const struct yarn_stream *stream, const struct yarn_entry *entry,
                            size_t *ret_size)
{
    struct yarn_span record = stream && entry ? yarn_stream_record(stream, entry) : YARN_SPAN_EMPTY;
    if (ret_size)
        *ret_size = record.size;
    return record.size ? record.data : NULL;
}
