/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/trace_fields.h"

#include <stdlib.h>

enum { FIELDS_MOST = 160, FLAGS_BYTES = 2048 };

static size_t bytes_of(size_t count)
{
    return sizeof(struct yarn_trace_fields) + count * sizeof(struct yarn_trace_field);
}

static size_t count_fields(struct yarn_span rest)
{
    struct yarn_trace_field field;
    size_t count = 0;
    while (count < FIELDS_MOST && yarn_trace_format_next(&rest, &field))
        count++;
    return count;
}

static struct yarn_span find_flags(struct yarn_span rest)
{
    static const char word[] = "__print_flags(";
    size_t size = sizeof word - 1;
    while (rest.size >= size && memcmp(rest.data, word, size) != 0)
        rest = yarn_span_from(rest, 1);
    return rest.size >= size ? yarn_span_sub(rest, 0, yarn_size_min(rest.size, FLAGS_BYTES))
                             : YARN_SPAN_EMPTY;
}

struct yarn_trace_fields *yarn_trace_fields_new(struct yarn_span format)
{
    size_t count = count_fields(format);
    struct yarn_trace_fields *fields = malloc(bytes_of(count));
    struct yarn_span rest = format;
    if (!fields)
        return NULL;
    fields->format = format;
    fields->flags = find_flags(format);
    for (fields->count = 0; fields->count < count; fields->count++)
        if (!yarn_trace_format_next(&rest, &fields->list[fields->count]))
            break;
    return fields;
}

bool yarn_trace_fields_find(const struct yarn_trace_fields *fields, struct yarn_span name,
                            struct yarn_trace_field *ret_field)
{
    for (size_t i = 0; fields && i < fields->count; i++) {
        if (!yarn_span_equal(fields->list[i].name, name))
            continue;
        *ret_field = fields->list[i];
        return true;
    }
    return false;
}

bool yarn_trace_field_value(const struct yarn_trace_field *field, struct yarn_span raw,
                            uint64_t *ret_number)
{
    return field->size &&
           yarn_trace_field_number(field, yarn_trace_field_bytes(field, raw), 0, ret_number);
}

bool yarn_trace_fields_value(const struct yarn_trace_fields *fields, const char *name,
                             struct yarn_span raw, uint64_t *ret_number)
{
    struct yarn_trace_field field;
    return yarn_trace_fields_find(fields, yarn_span_of_text(name), &field) &&
           yarn_trace_field_value(&field, raw, ret_number);
}

int yarn_trace_fields_tasks(const struct yarn_trace_fields *fields, struct yarn_span raw,
                            yarn_trace_task_fn *take, void *self)
{
    static const char *const names[][2] = {
        {"prev_pid", "prev_comm"}, {"next_pid", "next_comm"}, {"pid", "comm"}};
    struct yarn_trace_field comm;
    uint64_t pid;
    int err = 0;
    for (size_t i = 0; !err && i < YARN_COUNT_OF(names); i++)
        if (yarn_trace_fields_value(fields, names[i][0], raw, &pid) &&
            yarn_trace_fields_find(fields, yarn_span_of_text(names[i][1]), &comm))
            err = take(self, (uint32_t)pid, yarn_trace_field_bytes(&comm, raw));
    return err;
}
