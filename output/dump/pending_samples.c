/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/pending.h"

enum {
    MEDIAN_OF = 15, /* distances that a stream's period is taken from */
};

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
static void put_rows(struct yarn_dump_pending *pending)
{
    const struct yarn_dump_range streams = {0, (uint32_t)pending->nr_streams};
    const struct yarn_dump_range details = {0, (uint32_t)pending->nr_details};
    const struct yarn_dump_range accesses = {0, (uint32_t)pending->nr_accesses};
    const struct yarn_dump_range samples = {0, (uint32_t)pending->nr_samples};
    yarn_dump_pending_put_rows(pending, YARN_DUMP_RECORD_STREAMS, streams, pending->stream_rows,
                               YARN_SPAN_EMPTY);
    if (details.count)
        yarn_dump_pending_put_rows(pending, YARN_DUMP_RECORD_DETAILS, details, pending->detail_rows,
                                   yarn_bytes_span(&pending->raw));
    if (accesses.count)
        yarn_dump_pending_put_rows(pending, YARN_DUMP_RECORD_ACCESSES, accesses,
                                   pending->access_rows, YARN_SPAN_EMPTY);
    yarn_dump_pending_put_rows(pending, YARN_DUMP_RECORD_SAMPLES, samples, pending->sample_rows,
                               YARN_SPAN_EMPTY);
}

static void count_ends(const struct yarn_dump_pending *pending,
                       uint64_t ret_counts[YARN_DUMP_STACK_END_COUNT])
{
    for (size_t i = 0; i < pending->nr_samples; i++)
        if (pending->samples[i].stack_end < YARN_DUMP_STACK_END_COUNT)
            ret_counts[pending->samples[i].stack_end]++;
}

void yarn_dump_pending_seal_samples(struct yarn_dump_pending *pending)
{
    if (!pending->nr_samples)
        return;
    size_t mark = pending->sink->raw.size;
    make_rows(pending);
    (void)yarn_dump_sink_time(pending->sink, pending->streams[0].row.first_ns);
    put_rows(pending);
    if (yarn_dump_sink_take_back(pending->sink, mark))
        put_rows(pending);
    uint64_t counts[YARN_DUMP_STACK_END_COUNT] = {0};
    count_ends(pending, counts);
    yarn_dump_sink_count_samples(pending->sink, counts);
    yarn_bytes_reset(&pending->raw);
    pending->nr_samples = 0;
    pending->nr_streams = 0;
    pending->last_stream = 0;
}
