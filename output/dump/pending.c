/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/pending.h"

enum { HEAD_MAX = 8 }; /* bytes of a record's type and size */

void yarn_dump_pending_init(struct yarn_dump_pending *pending, struct yarn_dump_sink *sink)
{
    pending->sink = sink;
    pending->text = yarn_bytes_of(pending->text_data, sizeof pending->text_data);
    pending->records = yarn_bytes_of(pending->records_data, sizeof pending->records_data);
    pending->raw = yarn_bytes_of(pending->raw_data, sizeof pending->raw_data);
}

void yarn_dump_pending_drop(struct yarn_dump_pending *pending)
{
    pending->strings.count = pending->symbols.count = 0;
    pending->frames.count = pending->stacks.count = 0;
    yarn_bytes_reset(&pending->text);
    yarn_bytes_reset(&pending->records);
    yarn_bytes_reset(&pending->raw);
    pending->nr_samples = 0;
    pending->nr_streams = 0;
    pending->last_stream = 0;
}

void yarn_dump_pending_put_rows(struct yarn_dump_pending *pending, enum yarn_dump_record batch,
                                struct yarn_dump_range range, const void *rows,
                                struct yarn_span tail)
{
    struct yarn_byte_buffer *raw = &pending->sink->raw;
    if (yarn_bytes_room(raw) < HEAD_MAX) {
        raw->full = true;
        return;
    }
    /* The payload is made behind room for its head, whose size it decides. */
    struct yarn_byte_buffer payload =
        yarn_bytes_of(raw->data + raw->size + HEAD_MAX, raw->capacity - raw->size - HEAD_MAX);
    yarn_bytes_uleb(&payload, range.first);
    yarn_bytes_uleb(&payload, range.count);
    yarn_dump_columns_encode(&payload, batch, rows, range.count, pending->sink->chunk.time_ns,
                             pending->column);
    yarn_bytes_put(&payload, tail.data, tail.size);
    yarn_bytes_uleb(raw, batch);
    yarn_bytes_uleb(raw, payload.size);
    memmove(raw->data + raw->size, payload.data, payload.size);
    raw->size += payload.size;
    raw->full = raw->full || payload.full;
}

static void seal_batch(struct yarn_dump_pending *pending, enum yarn_dump_record batch,
                       struct yarn_dump_range *range, const void *rows, struct yarn_span tail)
{
    size_t mark = pending->sink->raw.size;
    if (!range->count)
        return;
    yarn_dump_pending_put_rows(pending, batch, *range, rows, tail);
    if (yarn_dump_sink_take_back(pending->sink, mark))
        yarn_dump_pending_put_rows(pending, batch, *range, rows, tail);
    range->count = 0;
}

void yarn_dump_pending_add_list(struct yarn_dump_pending *pending, enum yarn_dump_record list,
                                const void *rows, size_t count)
{
    size_t size = yarn_dump_row_bytes(list);
    yarn_dump_pending_seal(pending);
    for (size_t at = 0; at < count; at += YARN_DUMP_PENDING_ROWS) {
        size_t part = yarn_size_min(count - at, YARN_DUMP_PENDING_ROWS);
        struct yarn_dump_range range = {0, (uint32_t)part};
        seal_batch(pending, list, &range, (const uint8_t *)rows + at * size, YARN_SPAN_EMPTY);
    }
}

static void seal_records(struct yarn_dump_pending *pending)
{
    if (pending->records.size)
        yarn_dump_sink_append(pending->sink, yarn_bytes_span(&pending->records));
    yarn_bytes_reset(&pending->records);
}

void yarn_dump_pending_seal(struct yarn_dump_pending *pending)
{
    const struct yarn_span none = YARN_SPAN_EMPTY;
    seal_batch(pending, YARN_DUMP_RECORD_STRINGS, &pending->strings, pending->string_rows,
               yarn_bytes_span(&pending->text));
    yarn_bytes_reset(&pending->text);
    seal_records(pending);
    seal_batch(pending, YARN_DUMP_RECORD_SYMBOLS, &pending->symbols, pending->symbol_rows, none);
    seal_batch(pending, YARN_DUMP_RECORD_FRAMES, &pending->frames, pending->frame_rows, none);
    seal_batch(pending, YARN_DUMP_RECORD_STACKS, &pending->stacks, pending->stack_rows, none);
    yarn_dump_pending_seal_samples(pending);
}

/* Where in its rows the thing of this number goes. */
static size_t take_place(struct yarn_dump_pending *pending, struct yarn_dump_range *range,
                         uint32_t number, size_t max)
{
    if (range->count >= max)
        yarn_dump_pending_seal(pending);
    if (!range->count)
        range->first = number;
    return range->count++;
}

void yarn_dump_pending_add_string(struct yarn_dump_pending *pending, uint32_t number,
                                  struct yarn_span text)
{
    if (yarn_bytes_room(&pending->text) < text.size)
        yarn_dump_pending_seal(pending);
    size_t at = take_place(pending, &pending->strings, number, YARN_DUMP_PENDING_STRINGS);
    pending->string_rows[at].size = (uint32_t)text.size;
    yarn_bytes_put(&pending->text, text.data, text.size);
}

void yarn_dump_pending_add_record(struct yarn_dump_pending *pending, enum yarn_dump_record record,
                                  struct yarn_span payload)
{
    if (yarn_bytes_room(&pending->records) < HEAD_MAX + payload.size)
        yarn_dump_pending_seal(pending);
    yarn_bytes_uleb(&pending->records, record);
    yarn_bytes_sized(&pending->records, payload);
}

void yarn_dump_pending_add_symbol(struct yarn_dump_pending *pending, uint32_t number,
                                  const struct yarn_dump_symbol *symbol, uint64_t name)
{
    size_t at = take_place(pending, &pending->symbols, number, YARN_DUMP_PENDING_SYMBOLS);
    pending->symbol_rows[at] = (struct yarn_dump_symbol_row){
        .module = symbol->module,
        .start = symbol->start,
        .size = symbol->end - symbol->start,
        .name = (uint32_t)name,
    };
}

void yarn_dump_pending_add_frame(struct yarn_dump_pending *pending, uint32_t number,
                                 const struct yarn_dump_frame *frame, uint64_t symbol_start)
{
    size_t at = take_place(pending, &pending->frames, number, YARN_DUMP_PENDING_FRAMES);
    pending->frame_rows[at] = (struct yarn_dump_frame_row){
        .symbol = frame->symbol,
        .flags = frame->flags,
        .offset = frame->address - symbol_start,
    };
}

void yarn_dump_pending_add_stack(struct yarn_dump_pending *pending, uint32_t number,
                                 uint32_t parent, uint32_t frame)
{
    size_t at = take_place(pending, &pending->stacks, number, YARN_DUMP_PENDING_STACKS);
    pending->stack_rows[at] = (struct yarn_dump_stack_row){
        .distance = parent == YARN_DUMP_NONE ? 0 : number - parent,
        .frame = frame,
    };
}

bool yarn_dump_pending_has_thread(const struct yarn_dump_pending *pending, uint32_t tid)
{
    for (size_t i = 0; i < pending->nr_streams; i++) {
        if (pending->streams[i].row.tid == tid)
            return true;
    }
    return false;
}
