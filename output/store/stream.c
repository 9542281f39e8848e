/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/stream.h"

#include <stdlib.h>

#include "output/store/array.h"
#include "output/store/spill.h"

struct yarn_stream *yarn_stream_new(void)
{
    struct yarn_stream *stream = calloc(1, sizeof *stream);
    if (stream)
        stream->by_id = stream->by_pid = stream->tids = YARN_TABLE_CLOSED;
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
    free(stream->entries);
    free(stream->events);
    free(stream->tasks);
    free(stream->ids);
    free(stream);
    errno = saved;
}

int yarn_stream_add_entry(struct yarn_stream *stream, const struct yarn_entry *entry)
{
    return YARN_ARRAY_PUT(&stream->entries, &stream->nr_entries, &stream->entries_capacity, entry);
}

static bool is_before(const void *self, const void *one, const void *other)
{
    const struct yarn_entry *left = one, *right = other;
    (void)self;
    return left->time_ns != right->time_ns ? left->time_ns < right->time_ns
                                           : left->cpu < right->cpu;
}

static int finish(struct yarn_stream *stream, const char *path)
{
    struct yarn_entry *fitting =
        realloc(stream->entries, (stream->nr_entries + 1) * sizeof *fitting);
    if (fitting) {
        stream->entries = fitting;
        stream->entries_capacity = stream->nr_entries + 1;
    }
    stream->ids = malloc((stream->nr_events + 1) * sizeof *stream->ids);
    stream->path = strdup(path);
    if (!stream->ids || !stream->path)
        return -ENOMEM;
    for (size_t i = 0; i < stream->nr_events; i++)
        stream->ids[i] = stream->events[i].id;
    int err = YARN_ARRAY_SORT(&stream->entries, &stream->entries_capacity, stream->nr_entries,
                              is_before, NULL);
    if (!err && !stream->pid && stream->nr_entries)
        stream->start_ns = stream->entries[0].time_ns;
    return err;
}

static int read_trace(struct yarn_stream_list *streams, const char *path, struct yarn_text *why)
{
    struct yarn_stream *stream = yarn_stream_new();
    int err = stream ? yarn_stream_read_trace(stream, path, why) : -ENOMEM;
    if (!err)
        err = YARN_ARRAY_PUT(&streams->list, &streams->count, &streams->capacity, &stream);
    if (err)
        yarn_stream_free(stream);
    return err;
}

int yarn_stream_list_read(struct yarn_stream_list *streams, const char *path, int64_t index,
                          struct yarn_text *why)
{
    size_t first = streams->count;
    int err = read_trace(streams, path, why);
    if (!err && index > 0)
        err = -ENOENT;
    if (err == -ENOEXEC)
        err = yarn_stream_read_dump(streams, path, index, why);
    for (size_t i = first; !err && i < streams->count; i++)
        err = finish(streams->list[i], path);
    return err;
}

void yarn_stream_list_fini(struct yarn_stream_list *streams)
{
    for (size_t i = 0; i < streams->count; i++)
        yarn_stream_free(streams->list[i]);
    free(streams->list);
    *streams = (struct yarn_stream_list){0};
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
        *ret_count = stream ? stream->nr_entries : 0;
    return stream ? stream->entries : NULL;
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

bool yarn_stream_number(const struct yarn_trace_field *field, struct yarn_span record,
                        uint64_t *ret_number)
{
    return field->size &&
           yarn_trace_field_number(field, yarn_trace_field_bytes(field, record), 0, ret_number);
}
