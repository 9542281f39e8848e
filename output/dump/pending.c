/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/pending.h"

enum {
    HEAD_MAX = 8,    /* bytes of a record's type and size */
    NUMBER_MAX = 10, /* bytes of any number */
};

void yarn_dump_pending_init(struct yarn_dump_pending *pending, struct yarn_dump_sink *sink)
{
    pending->sink = sink;
    yarn_dump_models_reset(&pending->models);
    pending->text = yarn_bytes_of(pending->text_data, sizeof pending->text_data);
    pending->records = yarn_bytes_of(pending->records_data, sizeof pending->records_data);
}

void yarn_dump_pending_drop(struct yarn_dump_pending *pending)
{
    pending->strings.count = pending->symbols.count = 0;
    pending->frames.count = pending->stacks.count = 0;
    yarn_bytes_reset(&pending->text);
    yarn_bytes_reset(&pending->records);
    pending->nr_samples = 0;
    pending->nr_streams = 0;
    pending->last_stream = 0;
}

/* Until the next flush. */
static struct yarn_bytes begin_batch(struct yarn_dump_pending *pending)
{
    return yarn_bytes_of(pending->sink->stored + HEAD_MAX, YARN_DUMP_SINK_BYTES - HEAD_MAX);
}

/* The payload lies behind room for its head, so that both can go in one piece. */
static struct yarn_span add_head(struct yarn_dump_pending *pending, enum yarn_dump_record record,
                                 const struct yarn_bytes *payload)
{
    uint8_t head_data[HEAD_MAX];
    struct yarn_bytes head = yarn_bytes_of(head_data, sizeof head_data);
    yarn_bytes_uleb(&head, record);
    yarn_bytes_uleb(&head, payload->size);
    uint8_t *begin = pending->sink->stored + HEAD_MAX - head.size;
    memcpy(begin, head.data, head.size);
    return yarn_span_of(begin, head.size + payload->size);
}

/* Learned is only what stands in the chunk's own series. */
static void follow_series(struct yarn_dump_pending *pending)
{
    if (pending->series == pending->sink->packer.series)
        return;
    pending->series = pending->sink->packer.series;
    yarn_dump_models_reset(&pending->models);
}

/* Where the chunk is full, the next one begins a series, in which nothing was learned yet: what was
 * encoded is lost with the flush, and what was learned from it with the series. */
void yarn_dump_pending_seal_batch(struct yarn_dump_pending *pending, enum yarn_dump_record record,
                                  yarn_dump_encode_fn *encode)
{
    struct yarn_bytes payload = begin_batch(pending);
    follow_series(pending);
    encode(pending, &payload);
    if (!yarn_dump_sink_has_room(pending->sink, HEAD_MAX + payload.size)) {
        yarn_dump_sink_flush(pending->sink);
        yarn_dump_packer_restart(&pending->sink->packer);
        follow_series(pending);
        payload = begin_batch(pending);
        encode(pending, &payload);
    }
    yarn_dump_sink_append_dense(pending->sink, add_head(pending, record, &payload));
}

static void begin_numbered(struct yarn_bytes *payload, const struct yarn_dump_range *range)
{
    yarn_bytes_uleb(payload, range->first);
    yarn_bytes_uleb(payload, range->count);
}

static void seal_strings(struct yarn_dump_pending *pending)
{
    if (!pending->strings.count)
        return;
    size_t most = HEAD_MAX + pending->text.size + (pending->strings.count + 3) * NUMBER_MAX;
    if (!yarn_dump_sink_has_room(pending->sink, most))
        yarn_dump_sink_flush(pending->sink);
    struct yarn_bytes payload = begin_batch(pending);
    begin_numbered(&payload, &pending->strings);
    yarn_column_encode(&payload, pending->string_sizes, pending->strings.count);
    yarn_bytes_put(&payload, pending->text.data, pending->text.size);
    yarn_dump_sink_append(pending->sink, add_head(pending, YARN_DUMP_RECORD_STRINGS, &payload));
    yarn_bytes_reset(&pending->text);
    pending->strings.count = 0;
}

static void seal_records(struct yarn_dump_pending *pending)
{
    if (pending->records.size)
        yarn_dump_sink_append(pending->sink, yarn_bytes_span(&pending->records));
    yarn_bytes_reset(&pending->records);
}

static void encode_symbols(struct yarn_dump_pending *pending, struct yarn_bytes *payload)
{
    size_t count = pending->symbols.count;
    struct yarn_column_model *models = pending->models.model;
    begin_numbered(payload, &pending->symbols);
    yarn_column_encode(payload, pending->symbol_modules, count);
    yarn_column_encode_modelled(payload, &models[YARN_DUMP_MODEL_SYMBOLS_start],
                                YARN_COLUMN_MODELLED_DELTA, pending->symbol_starts, count);
    yarn_column_encode_modelled(payload, &models[YARN_DUMP_MODEL_SYMBOLS_size],
                                YARN_COLUMN_MODELLED, pending->symbol_sizes, count);
    yarn_column_encode_modelled(payload, &models[YARN_DUMP_MODEL_SYMBOLS_name],
                                YARN_COLUMN_MODELLED_RECENT, pending->symbol_names, count);
}

static void encode_frames(struct yarn_dump_pending *pending, struct yarn_bytes *payload)
{
    size_t count = pending->frames.count;
    struct yarn_column_model *models = pending->models.model;
    begin_numbered(payload, &pending->frames);
    yarn_column_encode_modelled(payload, &models[YARN_DUMP_MODEL_FRAMES_symbol],
                                YARN_COLUMN_MODELLED_RECENT, pending->frame_symbols, count);
    yarn_column_encode(payload, pending->frame_flags, count);
    yarn_column_encode_modelled(payload, &models[YARN_DUMP_MODEL_FRAMES_address],
                                YARN_COLUMN_MODELLED, pending->frame_addresses, count);
}

static void encode_stacks(struct yarn_dump_pending *pending, struct yarn_bytes *payload)
{
    size_t count = pending->stacks.count;
    struct yarn_column_model *models = pending->models.model;
    begin_numbered(payload, &pending->stacks);
    yarn_column_encode_modelled(payload, &models[YARN_DUMP_MODEL_STACKS_parent],
                                YARN_COLUMN_MODELLED, pending->stack_parents, count);
    yarn_column_encode_modelled(payload, &models[YARN_DUMP_MODEL_STACKS_frame],
                                YARN_COLUMN_MODELLED_RECENT, pending->stack_frames, count);
}

static void seal_numbered(struct yarn_dump_pending *pending, enum yarn_dump_record record,
                          struct yarn_dump_range *range, yarn_dump_encode_fn *encode)
{
    if (range->count)
        yarn_dump_pending_seal_batch(pending, record, encode);
    range->count = 0;
}

void yarn_dump_pending_seal(struct yarn_dump_pending *pending)
{
    seal_strings(pending);
    seal_records(pending);
    seal_numbered(pending, YARN_DUMP_RECORD_SYMBOLS, &pending->symbols, encode_symbols);
    seal_numbered(pending, YARN_DUMP_RECORD_FRAMES, &pending->frames, encode_frames);
    seal_numbered(pending, YARN_DUMP_RECORD_STACKS, &pending->stacks, encode_stacks);
    yarn_dump_pending_seal_samples(pending);
}

/* Where in its columns the thing of this number goes. */
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
    pending->string_sizes[at] = text.size;
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
    pending->symbol_modules[at] = (uint32_t)(symbol->module + 1);
    pending->symbol_starts[at] = symbol->start;
    pending->symbol_sizes[at] = symbol->end - symbol->start;
    pending->symbol_names[at] = name;
}

void yarn_dump_pending_add_frame(struct yarn_dump_pending *pending, uint32_t number,
                                 const struct yarn_dump_frame *frame, uint64_t symbol_start)
{
    size_t at = take_place(pending, &pending->frames, number, YARN_DUMP_PENDING_FRAMES);
    pending->frame_symbols[at] = frame->symbol;
    pending->frame_flags[at] = frame->flags;
    pending->frame_addresses[at] = frame->address - symbol_start;
}

void yarn_dump_pending_add_stack(struct yarn_dump_pending *pending, uint32_t number,
                                 uint32_t parent, uint32_t frame)
{
    size_t at = take_place(pending, &pending->stacks, number, YARN_DUMP_PENDING_STACKS);
    pending->stack_parents[at] = parent == YARN_DUMP_NONE ? 0 : number - parent;
    pending->stack_frames[at] = frame;
}

bool yarn_dump_pending_has_thread(const struct yarn_dump_pending *pending, uint32_t tid)
{
    for (size_t i = 0; i < pending->nr_streams; i++) {
        if (pending->streams[i].tid == tid)
            return true;
    }
    return false;
}
