/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/pending.h"

enum {
    HEAD_MAX = 8,   /* bytes of a record's type and size */
    MEDIAN_OF = 15, /* distances that a stream's period is taken from */
};

void yarn_dump_pending_init(struct yarn_dump_pending *pending, struct yarn_dump_sink *sink)
{
    memset(pending, 0, offsetof(struct yarn_dump_pending, string_rows));
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

/* A batch becomes a record of the sink's chunk; see yarn_dump_sink_take_back. Times count from
 * the sink's. */
static void put_rows(struct yarn_dump_pending *pending, enum yarn_dump_record batch,
                     struct yarn_dump_range range, const void *rows, struct yarn_span tail)
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
    put_rows(pending, batch, *range, rows, tail);
    if (yarn_dump_sink_take_back(pending->sink, mark))
        put_rows(pending, batch, *range, rows, tail);
    range->count = 0;
}

static size_t find_stream(struct yarn_dump_pending *pending, const struct yarn_sample *sample)
{
    size_t count = pending->nr_streams;
    for (size_t step = 0; step < count; step++) {
        size_t i = pending->last_stream + step;
        i = i < count ? i : i - count;
        const struct yarn_dump_stream *stream = &pending->streams[i];
        if (stream->row.tid == sample->tid && stream->row.event == sample->event)
            return i;
    }
    return count;
}

void yarn_dump_pending_add_sample(struct yarn_dump_pending *pending,
                                  const struct yarn_sample *sample)
{
    if (pending->nr_samples >= YARN_DUMP_PENDING_SAMPLES ||
        yarn_bytes_room(&pending->raw) < sample->raw.size)
        yarn_dump_pending_seal(pending);
    size_t at = find_stream(pending, sample);
    if (at >= YARN_DUMP_PENDING_STREAMS) {
        yarn_dump_pending_seal(pending);
        at = 0;
    }
    struct yarn_dump_stream *stream = &pending->streams[at];
    if (at == pending->nr_streams) {
        stream->row = (struct yarn_dump_stream_row){
            .event = sample->event,
            .tid = sample->tid,
            .first_ns = sample->time_ns,
            .weight = sample->weight,
        };
        pending->nr_streams++;
    }
    stream->row.count++;
    pending->last_stream = at;
    pending->sample_streams[pending->nr_samples] = (uint16_t)at;
    pending->samples[pending->nr_samples++] = *sample;
    yarn_bytes_put(&pending->raw, sample->raw.data, sample->raw.size);
}

/* Of the sample whose row is number `place`. */
static void add_detail(struct yarn_dump_pending *pending, const struct yarn_sample *sample,
                       uint32_t place)
{
    if (sample->latency || sample->data_source)
        pending->access_rows[pending->nr_accesses++] = (struct yarn_dump_access_row){
            .sample = place,
            .latency = sample->latency,
            .data_source = sample->data_source,
        };
    if (!sample->address && !sample->raw.size)
        return;
    pending->detail_rows[pending->nr_details++] = (struct yarn_dump_detail_row){
        .sample = place,
        .address = sample->address,
        .raw_bytes = (uint32_t)sample->raw.size,
    };
}

/* Stream by stream; within one as they came. */
static void order_samples(struct yarn_dump_pending *pending)
{
    uint32_t from = 0;
    pending->nr_details = pending->nr_accesses = 0;
    for (size_t i = 0; i < pending->nr_streams; i++) {
        pending->streams[i].from = from;
        from += pending->streams[i].row.count;
    }
    for (size_t i = 0; i < pending->nr_samples; i++) {
        struct yarn_dump_stream *stream = &pending->streams[pending->sample_streams[i]];
        const struct yarn_sample *sample = &pending->samples[i];
        add_detail(pending, sample, stream->from);
        pending->sample_rows[stream->from++] = (struct yarn_dump_sample_row){
            .time_ns = (int64_t)sample->time_ns,
            .weight = (int64_t)(sample->weight - stream->row.weight),
            .cpu = sample->cpu,
            .stack = sample->stack,
            .stack_end = sample->stack_end,
        };
    }
}

/* The middle one of a stream's first distances: rarely off, as the mean is by one long pause. */
static uint64_t usual_distance(const struct yarn_dump_sample_row *rows, size_t nr_rows)
{
    uint64_t sorted[MEDIAN_OF];
    size_t count = 0;
    for (size_t i = 1; i < nr_rows && count < MEDIAN_OF; i++) {
        uint64_t distance = (uint64_t)rows[i].time_ns - (uint64_t)rows[i - 1].time_ns;
        size_t at = count++;
        for (; at && sorted[at - 1] > distance; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = distance;
    }
    return count ? sorted[count / 2] : 0;
}

/* Times become what they differ from the expected ones. */
static void relate_times(struct yarn_dump_stream_row *stream, struct yarn_dump_sample_row *rows)
{
    uint64_t expected_ns = stream->first_ns;
    stream->period_ns = usual_distance(rows, stream->count);
    for (uint32_t i = 0; i < stream->count; i++) {
        uint64_t time_ns = (uint64_t)rows[i].time_ns;
        rows[i].time_ns = (int64_t)(time_ns - expected_ns);
        expected_ns = time_ns + stream->period_ns;
    }
}

static void make_rows(struct yarn_dump_pending *pending)
{
    struct yarn_dump_sample_row *rows = pending->sample_rows;
    order_samples(pending);
    for (size_t i = 0; i < pending->nr_streams; i++) {
        struct yarn_dump_stream_row *stream = &pending->stream_rows[i];
        *stream = pending->streams[i].row;
        relate_times(stream, rows);
        rows += stream->count;
    }
}

/* All in the same chunk. */
static void put_samples(struct yarn_dump_pending *pending)
{
    const struct yarn_dump_range streams = {0, (uint32_t)pending->nr_streams};
    const struct yarn_dump_range details = {0, (uint32_t)pending->nr_details};
    const struct yarn_dump_range accesses = {0, (uint32_t)pending->nr_accesses};
    const struct yarn_dump_range samples = {0, (uint32_t)pending->nr_samples};
    put_rows(pending, YARN_DUMP_RECORD_STREAMS, streams, pending->stream_rows, YARN_SPAN_EMPTY);
    if (details.count)
        put_rows(pending, YARN_DUMP_RECORD_DETAILS, details, pending->detail_rows,
                 yarn_bytes_span(&pending->raw));
    if (accesses.count)
        put_rows(pending, YARN_DUMP_RECORD_ACCESSES, accesses, pending->access_rows,
                 YARN_SPAN_EMPTY);
    put_rows(pending, YARN_DUMP_RECORD_SAMPLES, samples, pending->sample_rows, YARN_SPAN_EMPTY);
}

static void count_ends(const struct yarn_dump_pending *pending,
                       uint64_t ret_counts[YARN_DUMP_STACK_END_COUNT])
{
    for (size_t i = 0; i < pending->nr_samples; i++)
        if (pending->samples[i].stack_end < YARN_DUMP_STACK_END_COUNT)
            ret_counts[pending->samples[i].stack_end]++;
}

static void seal_samples(struct yarn_dump_pending *pending)
{
    if (!pending->nr_samples)
        return;
    size_t mark = pending->sink->raw.size;
    make_rows(pending);
    (void)yarn_dump_sink_time(pending->sink, pending->streams[0].row.first_ns);
    put_samples(pending);
    if (yarn_dump_sink_take_back(pending->sink, mark))
        put_samples(pending);
    uint64_t counts[YARN_DUMP_STACK_END_COUNT] = {0};
    count_ends(pending, counts);
    yarn_dump_sink_count_samples(pending->sink, counts);
    yarn_bytes_reset(&pending->raw);
    pending->nr_samples = 0;
    pending->nr_streams = 0;
    pending->last_stream = 0;
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
    seal_samples(pending);
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
