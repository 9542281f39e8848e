/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/store/stream.h"

enum { TEXT_INFO, TEXT_DUMP, TEXT_FIELD_NAME, TEXT_FIELD };

enum { TEXT_BYTES = 16 << 10 };

const char *yarn_stream_event_name(const struct yarn_stream *stream, const struct yarn_entry *entry)
{
    if (!stream || !entry)
        return NULL;
    const char *target = yarn_couplebreak_event_name(entry->event_id);
    const struct yarn_stream_event *event = yarn_stream_event_by_id(stream, entry->event_id);
    return target ? target : event ? event->name : "";
}

int yarn_stream_original_pid(const struct yarn_stream *stream, const struct yarn_entry *entry)
{
    return stream && entry ? entry->pid : 0;
}

/* False: the entry's event has no such field. */
static bool find(const struct yarn_stream *stream, const struct yarn_entry *entry, const char *name,
                 struct yarn_trace_field *ret_field)
{
    if (!stream || !entry || !name)
        return false;
    const struct yarn_stream_event *event = yarn_stream_event_of(stream, entry);
    return event && event->fields && entry->record_bytes &&
           yarn_trace_fields_find(event->fields, yarn_span_of_text(name), ret_field);
}

static bool number_of(const struct yarn_stream *stream, const struct yarn_entry *entry,
                      const char *name, uint64_t *ret_number)
{
    struct yarn_trace_field field;
    return find(stream, entry, name, &field) &&
           yarn_trace_field_value(&field, yarn_stream_record(stream, entry), ret_number);
}

static char depth_char(uint64_t depth)
{
    return depth ? "0123456789abcdef"[depth & 15] : '.';
}

static char interrupts_char(uint64_t flags)
{
    return flags & 1 ? 'd' : flags & 2 ? 'X' : '.';
}

static char context_char(uint64_t flags)
{
    bool is_hard = flags & 8, is_soft = flags & 16;
    return is_hard && is_soft ? 'H' : is_hard ? 'h' : is_soft ? 's' : '.';
}

static char resched_char(uint64_t flags)
{
    bool is_needed = flags & 4, is_preempt = flags & 32;
    return is_needed && is_preempt ? 'N' : is_needed ? 'n' : is_preempt ? 'p' : '.';
}

const char *yarn_stream_latency(struct yarn_stream *stream, const struct yarn_entry *entry)
{
    uint64_t flags, depth;
    if (!stream || !entry)
        return NULL;
    char *text = stream->latency;
    text[0] = 0;
    if (!number_of(stream, entry, "common_flags", &flags) ||
        !number_of(stream, entry, "common_preempt_count", &depth))
        return text;
    text[0] = interrupts_char(flags);
    text[1] = resched_char(flags);
    text[2] = context_char(flags);
    text[3] = depth_char(depth & 15);
    text[4] = depth_char(depth >> 4 & 15);
    text[5] = 0;
    return text;
}

static void add_text(struct yarn_text *text, const struct yarn_stream *stream,
                     const struct yarn_entry *entry, const char *name)
{
    struct yarn_trace_field field;
    if (find(stream, entry, name, &field))
        yarn_trace_field_show(&field, yarn_stream_record(stream, entry), text);
}

static int64_t signed_of(const struct yarn_stream *stream, const struct yarn_entry *entry,
                         const char *name)
{
    uint64_t number;
    return number_of(stream, entry, name, &number) ? (int64_t)number : 0;
}

static void add_number(struct yarn_text *text, const char *before, const struct yarn_stream *stream,
                       const struct yarn_entry *entry, const char *name)
{
    yarn_text_add(text, before);
    yarn_text_add_i64(text, signed_of(stream, entry, name));
}

static void add_state(struct yarn_text *text, int64_t state)
{
    static const char letters[] = "SDTtXZPI";
    const char *separator = "";
    for (int i = 0; letters[i]; i++) {
        if (!(state & 1 << i))
            continue;
        yarn_text_add(text, separator);
        yarn_text_add_sized(text, &letters[i], 1);
        separator = "|";
    }
    yarn_text_add(text, separator[0] ? "" : "R");
}

static void add_side(struct yarn_text *text, const struct yarn_stream *stream,
                     const struct yarn_entry *entry, const char *const names[3])
{
    add_text(text, stream, entry, names[0]);
    add_number(text, ":", stream, entry, names[1]);
    add_number(text, " [", stream, entry, names[2]);
    yarn_text_add(text, "]");
}

static void add_switch(struct yarn_text *text, const struct yarn_stream *stream,
                       const struct yarn_entry *entry)
{
    static const char *const prev[] = {"prev_comm", "prev_pid", "prev_prio"};
    static const char *const next[] = {"next_comm", "next_pid", "next_prio"};
    add_side(text, stream, entry, prev);
    yarn_text_add(text, " ");
    add_state(text, signed_of(stream, entry, "prev_state"));
    yarn_text_add(text, " ==> ");
    add_side(text, stream, entry, next);
}

static void add_waking(struct yarn_text *text, const struct yarn_stream *stream,
                       const struct yarn_entry *entry)
{
    int64_t cpu = signed_of(stream, entry, "target_cpu");
    yarn_text_add(text, "comm=");
    add_text(text, stream, entry, "comm");
    add_number(text, " pid=", stream, entry, "pid");
    add_number(text, " prio=", stream, entry, "prio");
    yarn_text_add(text, " target_cpu=");
    yarn_text_add(text, cpu < 0 || cpu > 99 ? "" : cpu > 9 ? "0" : "00");
    yarn_text_add_i64(text, cpu);
}

static void add_fields(struct yarn_text *text, const struct yarn_stream *stream,
                       const struct yarn_entry *entry, const struct yarn_stream_event *event)
{
    const char *separator = "";
    for (size_t i = 0; event->fields && i < event->fields->count; i++) {
        const struct yarn_trace_field *field = &event->fields->list[i];
        if (field->is_common)
            continue;
        yarn_text_add(text, separator);
        yarn_text_add_sized(text, (const char *)field->name.data, field->name.size);
        yarn_text_add(text, "=");
        yarn_trace_field_show(field, yarn_stream_record(stream, entry), text);
        separator = " ";
    }
}

static void add_info(struct yarn_text *text, const struct yarn_stream *stream,
                     const struct yarn_entry *entry)
{
    const struct yarn_stream_event *event = yarn_stream_event_of(stream, entry);
    if (!event || !event->fields || !entry->record_bytes)
        return;
    if (event->kind == YARN_STREAM_SWITCH)
        add_switch(text, stream, entry);
    else if (event->kind == YARN_STREAM_WAKING)
        add_waking(text, stream, entry);
    else
        add_fields(text, stream, entry, event);
}

/* False: no memory. */
static bool begin_text(struct yarn_stream *stream, int number, struct yarn_text *ret_text)
{
    if (!stream->texts[number])
        stream->texts[number] = malloc(TEXT_BYTES);
    if (!stream->texts[number])
        return false;
    *ret_text = yarn_text_of(stream->texts[number], TEXT_BYTES);
    return true;
}

const char *yarn_stream_info(struct yarn_stream *stream, const struct yarn_entry *entry)
{
    struct yarn_text text;
    if (!stream || !entry || !begin_text(stream, TEXT_INFO, &text))
        return NULL;
    add_info(&text, stream, entry);
    return text.data;
}

static void add_who(struct yarn_text *text, const struct yarn_stream *stream,
                    const struct yarn_entry *entry)
{
    yarn_text_add_u64(text, entry->time_ns);
    yarn_text_add(text, "; ");
    yarn_text_add(text, yarn_stream_task(stream, entry));
    yarn_text_add_format(text, "-%d; CPU %d; ", entry->pid, entry->cpu);
}

const char *yarn_stream_dump_text(struct yarn_stream *stream, const struct yarn_entry *entry)
{
    const struct yarn_entry *origin = yarn_couplebreak_origin(entry);
    struct yarn_text text;
    if (!stream || !entry || !begin_text(stream, TEXT_DUMP, &text))
        return NULL;
    if (origin) {
        add_who(&text, stream, entry);
        yarn_text_add_format(&text, "; %s; origin_task_name=%s; origin_pid=%d; ",
                             yarn_stream_event_name(stream, entry),
                             yarn_stream_task(stream, origin), origin->pid);
        entry = origin;
    }
    add_who(&text, stream, entry);
    yarn_text_add_format(&text, "%s; %s; ", yarn_stream_latency(stream, entry),
                         yarn_stream_event_name(stream, entry));
    add_info(&text, stream, entry);
    return text.data;
}

const char *yarn_stream_field_name(struct yarn_stream *stream, const struct yarn_entry *entry,
                                   size_t index)
{
    const struct yarn_stream_event *event =
        stream && entry ? yarn_stream_event_of(stream, entry) : NULL;
    const struct yarn_trace_fields *fields = event ? event->fields : NULL;
    struct yarn_text text;
    if (!fields || index >= fields->count || !begin_text(stream, TEXT_FIELD_NAME, &text))
        return NULL;
    const struct yarn_span name = fields->list[index].name;
    yarn_text_add_sized(&text, (const char *)name.data, name.size);
    return text.data;
}

int yarn_stream_field_type(const struct yarn_stream *stream, const struct yarn_entry *entry,
                           const char *name, enum yarn_field_type *ret_type)
{
    struct yarn_trace_field field;
    if (!stream || !entry || !name || !ret_type)
        return -EINVAL;
    if (!find(stream, entry, name, &field))
        return -ENOENT;
    *ret_type = field.is_text                           ? YARN_FIELD_TEXT
                : field.is_located || field.is_relative ? YARN_FIELD_ARRAY
                : field.element_bytes < field.size      ? YARN_FIELD_ARRAY
                                                        : YARN_FIELD_INTEGER;
    return 0;
}

int yarn_stream_field_value(const struct yarn_stream *stream, const struct yarn_entry *entry,
                            const char *name, int64_t *ret_value)
{
    enum yarn_field_type type;
    uint64_t number;
    if (!ret_value)
        return -EINVAL;
    int err = yarn_stream_field_type(stream, entry, name, &type);
    if (err)
        return err;
    if (type != YARN_FIELD_INTEGER || !number_of(stream, entry, name, &number))
        return -EINVAL;
    *ret_value = (int64_t)number;
    return 0;
}

const char *yarn_stream_field_text(struct yarn_stream *stream, const struct yarn_entry *entry,
                                   const char *name)
{
    struct yarn_trace_field field;
    struct yarn_text text;
    if (!find(stream, entry, name, &field) || !begin_text(stream, TEXT_FIELD, &text))
        return NULL;
    yarn_trace_field_show(&field, yarn_stream_record(stream, entry), &text);
    return text.data;
}
