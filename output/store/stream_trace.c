/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/store/stream.h"

struct reading {
    struct yarn_stream *stream;
    struct yarn_trace_field type, pid;
};

static struct yarn_span name_in(struct yarn_span format)
{
    static const char key[] = "name: ";
    size_t at = sizeof key - 1;
    if (format.size <= at || memcmp(format.data, key, at) != 0)
        return YARN_SPAN_EMPTY;
    const uint8_t *end = memchr(format.data, '\n', format.size);
    return yarn_span_sub(format, at, end ? (size_t)(end - format.data) - at : 0);
}

static int add_format(struct yarn_stream *stream, const struct yarn_trace_file_format *format)
{
    char name[256];
    struct yarn_text text = yarn_text_of(name, sizeof name);
    struct yarn_span event = name_in(format->text);
    uint64_t id = yarn_trace_format_id(format->text);
    yarn_text_add_sized(&text, (const char *)format->system.data, format->system.size);
    yarn_text_add(&text, "/");
    yarn_text_add_sized(&text, (const char *)event.data, event.size);
    if (!event.size || !id || id >= YARN_STREAM_ID_PLAIN)
        return 0;
    return yarn_stream_add_event(stream, (int)id, yarn_span_of(name, text.size), format->text);
}

/* "PID NAME" */
static int add_name(struct yarn_stream *stream, struct yarn_span line)
{
    uint64_t pid;
    const uint8_t *blank = line.size ? memchr(line.data, ' ', line.size) : NULL;
    size_t digits = blank ? (size_t)(blank - line.data) : 0;
    if (!digits || yarn_parse_u64((const char *)line.data, digits, &pid))
        return 0;
    return yarn_stream_add_name(stream, (uint32_t)pid, yarn_span_from(line, digits + 1));
}

static int add_names(struct yarn_stream *stream, struct yarn_span names)
{
    int err = 0;
    while (!err && names.size) {
        const uint8_t *end = memchr(names.data, '\n', names.size);
        size_t size = end ? (size_t)(end - names.data) : names.size;
        err = add_name(stream, yarn_span_sub(names, 0, size));
        names = yarn_span_from(names, size + (end != NULL));
    }
    return err;
}

static int add_formats(struct reading *reading)
{
    struct yarn_stream *stream = reading->stream;
    const struct yarn_trace_file *file = &stream->trace;
    int err = 0;
    for (size_t i = 0; !err && i < file->nr_formats; i++)
        err = add_format(stream, &file->formats[i]);
    for (size_t i = 0; i < file->nr_formats && !reading->pid.size; i++) {
        struct yarn_span text = file->formats[i].text;
        if (!yarn_trace_format_find(text, yarn_span_of_text("common_type"), &reading->type) ||
            !yarn_trace_format_find(text, yarn_span_of_text("common_pid"), &reading->pid))
            reading->type = reading->pid = (struct yarn_trace_field){0};
    }
    return err;
}

/* One without a format has no fields, but it happened. */
static int add_unknown(struct yarn_stream *stream, int type)
{
    char name[32];
    struct yarn_text text = yarn_text_of(name, sizeof name);
    if (yarn_stream_event_by_id(stream, type))
        return 0;
    yarn_text_add_format(&text, "unknown/%d", type);
    return yarn_stream_add_event(stream, type, yarn_span_of(name, text.size), YARN_SPAN_EMPTY);
}

static int take(void *self, const struct yarn_trace_file_core *core, uint64_t time_ns,
                struct yarn_span event)
{
    struct reading *reading = self;
    uint64_t type, pid = 0;
    if (!yarn_trace_field_value(&reading->type, event, &type))
        return yarn_trace_refuse(&reading->stream->trace, core->at,
                                 "an event without a format, or shorter than one");
    if (!yarn_trace_field_value(&reading->pid, event, &pid))
        pid = 0;
    int err = add_unknown(reading->stream, (int)type);
    if (err)
        return err;
    struct yarn_entry entry = {
        .time_ns = time_ns,
        .event_id = (int)type,
        .pid = (int)pid,
        .cpu = (int)core->cpu,
        .record_bytes = (uint32_t)event.size,
        .record_at = (uint64_t)(event.data - reading->stream->records.data),
    };
    return yarn_stream_add_entry(reading->stream, &entry);
}

static int compare_gaps(const void *a, const void *b)
{
    const struct yarn_trace_gap *left = a, *right = b;
    if (left->time_ns != right->time_ns)
        return left->time_ns < right->time_ns ? -1 : 1;
    return left->cpu < right->cpu ? -1 : left->cpu > right->cpu;
}

static void say_fault(const struct yarn_trace_file *file, struct yarn_text *why)
{
    if (!file->fault.why)
        return;
    yarn_text_add(why, file->fault.why);
    yarn_text_add(why, " (at byte ");
    yarn_text_add_u64(why, file->fault.at);
    yarn_text_add(why, ")");
}

int yarn_stream_read_trace(struct yarn_stream *stream, const char *path, struct yarn_text *why)
{
    struct reading reading = {.stream = stream};
    int err = yarn_trace_file_open(&stream->trace, path);
    if (!err) {
        stream->records = stream->trace.is_packed ? stream->trace.unpacked : stream->trace.bytes;
        err = add_formats(&reading);
    }
    if (!err)
        err = add_names(stream, stream->trace.names);
    if (!err)
        err = yarn_trace_file_each(&stream->trace, take, &reading);
    if (!err && stream->trace.nr_gaps)
        qsort(stream->trace.gaps, stream->trace.nr_gaps, sizeof *stream->trace.gaps, compare_gaps);
    if (err)
        say_fault(&stream->trace, why);
    return err;
}
