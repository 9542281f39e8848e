/* SPDX-License-Identifier: Apache-2.0 */
#include "output/store/trace_headers.h"

#include "core/event/trace_format.h"
#include "output/store/array.h"

static struct yarn_span take_sized(struct yarn_cursor *cursor)
{
    return yarn_cursor_span(cursor, yarn_cursor_u64(cursor));
}

void yarn_trace_take_headers(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    struct yarn_trace_field commit;
    (void)yarn_cursor_text(cursor);
    struct yarn_span page = take_sized(cursor);
    (void)yarn_cursor_text(cursor);
    (void)take_sized(cursor);
    if (yarn_trace_format_find(page, yarn_span_of_text("commit"), &commit) && commit.size == 4)
        file->long_bytes = commit.size;
}

/* So many formats of one system. */
static int take_system(struct yarn_trace_file *file, struct yarn_cursor *cursor,
                       struct yarn_span system, uint32_t count)
{
    int err = 0;
    for (uint32_t i = 0; !err && !cursor->failed && i < count; i++) {
        const struct yarn_trace_file_format format = {system, take_sized(cursor)};
        err = YARN_ARRAY_PUT(&file->formats, &file->nr_formats, &file->formats_capacity, &format);
    }
    return err;
}

int yarn_trace_take_ftrace(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    uint32_t count = yarn_cursor_u32(cursor);
    return take_system(file, cursor, yarn_span_of_text("ftrace"), count);
}

int yarn_trace_take_formats(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    uint32_t count = yarn_cursor_u32(cursor);
    int err = 0;
    for (uint32_t i = 0; !err && !cursor->failed && i < count; i++) {
        struct yarn_span system = yarn_span_of_text(yarn_cursor_text(cursor));
        uint32_t nr_formats = yarn_cursor_u32(cursor);
        err = take_system(file, cursor, system, nr_formats);
    }
    return err;
}

void yarn_trace_take_names(struct yarn_trace_file *file, struct yarn_cursor *cursor)
{
    file->names = take_sized(cursor);
}
