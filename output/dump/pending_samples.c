/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/pending.h"

enum {
    MEDIAN_OF = 15, /* distances that a stream's period is taken from */
};

static size_t find_stream(struct yarn_dump_pending *pending, const struct yarn_dump_sample *sample)
{
    size_t count = pending->nr_streams;
    for (size_t step = 0; step < count; step++) {
        size_t i = pending->last_stream + step;
        i = i < count ? i : i - count;
        const struct yarn_dump_stream *stream = &pending->streams[i];
        if (stream->tid == sample->tid && stream->event == sample->event)
            return i;
    }
    return count;
}

void yarn_dump_pending_add_sample(struct yarn_dump_pending *pending,
                                  const struct yarn_dump_sample *sample)
{
    if (pending->nr_samples >= YARN_DUMP_PENDING_SAMPLES)
        yarn_dump_pending_seal(pending);
    size_t at = find_stream(pending, sample);
    if (at >= YARN_DUMP_PENDING_STREAMS) {
        yarn_dump_pending_seal(pending);
        at = 0;
    }
    struct yarn_dump_stream *stream = &pending->streams[at];
    if (at == pending->nr_streams) {
        *stream = (struct yarn_dump_stream){
            .event = sample->event,
            .tid = sample->tid,
            .first_ns = sample->time_ns,
            .weight = sample->weight,
        };
        pending->nr_streams++;
    }
    stream->count++;
    pending->last_stream = at;
    pending->sample_streams[pending->nr_samples] = (uint16_t)at;
    pending->samples[pending->nr_samples++] = *sample;
}

/* Stream by stream; within one as they came. */
static void order_samples(struct yarn_dump_pending *pending)
{
    uint32_t from = 0;
    for (size_t i = 0; i < pending->nr_streams; i++) {
        pending->streams[i].from = from;
        from += pending->streams[i].count;
        pending->streams[i].count = 0;
    }
    for (size_t i = 0; i < pending->nr_samples; i++) {
        struct yarn_dump_stream *stream = &pending->streams[pending->sample_streams[i]];
        pending->order[stream->from + stream->count++] = (uint16_t)i;
    }
}

/* The middle one of a stream's first distances: rarely off, as the mean is by one long pause. */
static uint64_t usual_distance(const struct yarn_dump_pending *pending,
                               const struct yarn_dump_stream *stream)
{
    uint64_t sorted[MEDIAN_OF];
    size_t count = 0;
    for (uint32_t i = 1; i < stream->count && count < MEDIAN_OF; i++) {
        const uint16_t *order = &pending->order[stream->from + i];
        uint64_t distance =
            pending->samples[order[0]].time_ns - pending->samples[order[-1]].time_ns;
        size_t at = count++;
        for (; at && sorted[at - 1] > distance; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = distance;
    }
    return count ? sorted[count / 2] : 0;
}

static void encode_streams(struct yarn_dump_pending *pending, struct yarn_bytes *payload)
{
    size_t count = pending->nr_streams;
    uint64_t *column = pending->column;
    struct yarn_dump_stream *streams = pending->streams;
    for (size_t i = 0; i < count; i++)
        column[i] = streams[i].event;
    yarn_column_encode(payload, column, count);
    for (size_t i = 0; i < count; i++)
        column[i] = streams[i].tid;
    yarn_column_encode(payload, column, count);
    for (size_t i = 0; i < count; i++)
        column[i] = streams[i].count;
    yarn_column_encode(payload, column, count);
    for (size_t i = 0; i < count; i++)
        column[i] = yarn_zigzag_of(streams[i].first_ns - streams[0].first_ns);
    yarn_column_encode(payload, column, count);
    for (size_t i = 0; i < count; i++) {
        streams[i].period_ns = usual_distance(pending, &streams[i]);
        column[i] = streams[i].period_ns;
    }
    yarn_column_encode(payload, column, count);
    for (size_t i = 0; i < count; i++)
        column[i] = streams[i].weight;
    yarn_column_encode(payload, column, count);
}

static void encode_times(struct yarn_dump_pending *pending, struct yarn_bytes *payload)
{
    for (size_t i = 0; i < pending->nr_streams; i++) {
        const struct yarn_dump_stream *stream = &pending->streams[i];
        uint64_t expected = stream->first_ns;
        for (uint32_t k = stream->from; k < stream->from + stream->count; k++) {
            uint64_t time = pending->samples[pending->order[k]].time_ns;
            pending->column[k] = yarn_zigzag_of(time - expected);
            expected = time + stream->period_ns;
        }
    }
    yarn_column_encode(payload, pending->column, pending->nr_samples);
}

static void encode_rest(struct yarn_dump_pending *pending, struct yarn_bytes *payload)
{
    size_t count = pending->nr_samples;
    uint64_t *column = pending->column;
    const uint16_t *order = pending->order;
    const struct yarn_dump_sample *samples = pending->samples;
    for (size_t i = 0; i < count; i++)
        column[i] = samples[order[i]].cpu;
    yarn_column_encode(payload, column, count);
    for (size_t i = 0; i < count; i++)
        column[i] = (uint32_t)(samples[order[i]].stack + 1);
    yarn_column_encode_modelled(payload, &pending->models.model[YARN_DUMP_MODEL_SAMPLES_stack],
                                YARN_COLUMN_MODELLED_RECENT, column, count);
    for (size_t i = 0; i < count; i++)
        column[i] = samples[order[i]].stack_end;
    yarn_column_encode(payload, column, count);
    for (size_t i = 0; i < count; i++) {
        const struct yarn_dump_stream *stream =
            &pending->streams[pending->sample_streams[order[i]]];
        column[i] = yarn_zigzag_of(samples[order[i]].weight - stream->weight);
    }
    yarn_column_encode(payload, column, count);
}

static void encode_samples(struct yarn_dump_pending *pending, struct yarn_bytes *payload)
{
    uint64_t first_ns = pending->streams[0].first_ns;
    uint64_t base_ns = yarn_dump_sink_time(pending->sink, first_ns);
    yarn_bytes_uleb(payload, pending->nr_samples);
    yarn_bytes_uleb(payload, pending->nr_streams);
    yarn_bytes_zigzag(payload, (int64_t)(first_ns - base_ns));
    encode_streams(pending, payload);
    encode_times(pending, payload);
    encode_rest(pending, payload);
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
    order_samples(pending);
    yarn_dump_pending_seal_batch(pending, YARN_DUMP_RECORD_SAMPLES, encode_samples);
    uint64_t counts[YARN_DUMP_STACK_END_COUNT] = {0};
    count_ends(pending, counts);
    yarn_dump_sink_count_samples(pending->sink, counts);
    pending->nr_samples = 0;
    pending->nr_streams = 0;
    pending->last_stream = 0;
}
