/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/column.h"
#include "output/dump/record_reader.h"

/* The head of a batch: how many samples in how many streams, and what each stream is like. */
struct batch {
    size_t nr_samples, nr_streams;
    uint64_t first_ns;
};

static bool read_head(struct yarn_dump_record_reader *reader, struct yarn_cursor *cursor,
                      struct batch *ret_batch)
{
    uint64_t nr_samples = yarn_cursor_uleb(cursor);
    uint64_t nr_streams = yarn_cursor_uleb(cursor);
    uint64_t first_ns = reader->base_ns + (uint64_t)yarn_cursor_zigzag(cursor);
    if (!yarn_dump_take_things(reader, nr_samples))
        return false;
    if (!yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_PURSE_SAMPLES, nr_samples)) {
        yarn_dump_note_excess(reader, YARN_DUMP_EXCESS_SAMPLES);
        return false;
    }
    *ret_batch = (struct batch){(size_t)nr_samples, (size_t)nr_streams, first_ns};
    return !cursor->failed && nr_streams && nr_streams <= nr_samples;
}

/* False where a stream is impossible or their counts do not add up. */
static bool read_streams(struct yarn_dump_record_reader *reader, struct yarn_cursor *cursor,
                         const struct batch *batch)
{
    uint64_t sum = 0;
    uint64_t **columns = reader->columns;
    for (size_t i = 0; i < 5; i++)
        yarn_column_decode(cursor,
                           yarn_dump_model(reader, YARN_DUMP_MODEL_SAMPLES_stream_event + i),
                           columns[i], batch->nr_streams);
    for (size_t i = 0; i < batch->nr_streams && !cursor->failed; i++) {
        if (columns[0][i] > UINT32_MAX || columns[1][i] > UINT32_MAX || !columns[2][i] ||
            columns[2][i] > batch->nr_samples - sum)
            return false;
        sum += columns[2][i];
        reader->streams[i] = (struct yarn_dump_stream_head){
            .event = (uint32_t)columns[0][i],
            .tid = (uint32_t)columns[1][i],
            .count = (uint32_t)columns[2][i],
            .time_ns = batch->first_ns + yarn_zigzag_to(columns[3][i]),
            .period_ns = columns[4][i],
        };
    }
    yarn_column_decode(cursor, yarn_dump_model(reader, YARN_DUMP_MODEL_SAMPLES_stream_weight),
                       columns[0], batch->nr_streams);
    for (size_t i = 0; i < batch->nr_streams && !cursor->failed; i++)
        reader->streams[i].weight = columns[0][i];
    return !cursor->failed && sum == batch->nr_samples;
}

/* A stack that was lost with its chunk: the sample's time and weight are true without it. */
static void check_stack(struct yarn_dump_record_reader *reader, struct yarn_dump_sample *sample)
{
    if (sample->stack_end == 1)
        sample->stack_end = YARN_DUMP_STACK_TRUNCATED;
    else if (sample->stack_end >= YARN_DUMP_STACK_END_COUNT)
        sample->stack_end = YARN_DUMP_STACK_FAILED;
    if (sample->stack == YARN_DUMP_NONE)
        return;
    if (!yarn_dump_set_has(&reader->known.stacks, sample->stack))
        reader->summary->records_bad++;
    else if (yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_PURSE_FRAMES,
                                       reader->known.depths[sample->stack]))
        return;
    else
        yarn_dump_note_excess(reader, YARN_DUMP_EXCESS_FRAMES);
    sample->stack = YARN_DUMP_NONE;
    sample->stack_end = YARN_DUMP_STACK_FAILED;
}

/* Sums over a file, and over some files, are numbers of 64 bits. */
static void check_weight(struct yarn_dump_record_reader *reader, struct yarn_dump_sample *sample)
{
    if (yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_PURSE_WEIGHT, sample->weight))
        return;
    sample->weight = 0;
    yarn_dump_note_excess(reader, YARN_DUMP_EXCESS_WEIGHT);
}

static void fill_stream(struct yarn_dump_record_reader *reader,
                        const struct yarn_dump_stream_head *stream, size_t from)
{
    uint64_t **columns = reader->columns;
    uint64_t expected_ns = stream->time_ns;
    for (size_t i = from; i < from + stream->count; i++) {
        struct yarn_dump_sample *sample = &reader->samples[i];
        *sample = (struct yarn_dump_sample){
            .time_ns = expected_ns + yarn_zigzag_to(columns[0][i]),
            .weight = stream->weight + yarn_zigzag_to(columns[4][i]),
            .event = stream->event,
            .tid = stream->tid,
            .cpu = (uint32_t)columns[1][i],
            .stack = (uint32_t)(columns[2][i] - 1),
            .stack_end = (uint32_t)columns[3][i],
        };
        expected_ns = sample->time_ns + stream->period_ns;
        check_stack(reader, sample);
        check_weight(reader, sample);
    }
}

/* Samples of [from, middle) and [middle, to), each in its order, by time. */
static void merge_two(const struct yarn_dump_sample *samples, size_t from, size_t middle, size_t to,
                      struct yarn_dump_sample *ret_merged)
{
    size_t left = from;
    size_t right = middle;
    for (size_t i = from; i < to; i++) {
        bool is_left =
            right >= to || (left < middle && samples[left].time_ns <= samples[right].time_ns);
        ret_merged[i] = samples[is_left ? left++ : right++];
    }
}

/* Streams become one: neighbours are merged until one is left. */
static void merge_streams(struct yarn_dump_record_reader *reader, size_t nr_streams)
{
    struct yarn_dump_stream_head *streams = reader->streams;
    while (nr_streams > 1) {
        size_t from = 0;
        size_t nr_merged = 0;
        for (size_t i = 0; i < nr_streams; i += 2) {
            size_t middle = from + streams[i].count;
            size_t to = i + 1 < nr_streams ? middle + streams[i + 1].count : middle;
            merge_two(reader->samples, from, middle, to, reader->merged_samples);
            streams[nr_merged++].count = (uint32_t)(to - from);
            from = to;
        }
        struct yarn_dump_sample *merged = reader->merged_samples;
        reader->merged_samples = reader->samples;
        reader->samples = merged;
        nr_streams = nr_merged;
    }
}

/* The streams' events are handed on first where their own records were lost. */
static bool check_events(struct yarn_dump_record_reader *reader, size_t nr_streams, int *ret_result)
{
    for (size_t i = 0; i < nr_streams; i++) {
        bool is_possible = yarn_dump_check_event(reader, reader->streams[i].event, ret_result);
        if (!is_possible || *ret_result)
            return false;
    }
    return true;
}

static bool read_columns(struct yarn_dump_record_reader *reader, struct yarn_cursor *cursor,
                         size_t count)
{
    for (size_t i = 0; i < 5; i++)
        yarn_column_decode(cursor, yarn_dump_model(reader, YARN_DUMP_MODEL_SAMPLES_time + i),
                           reader->columns[i], count);
    for (size_t i = 0; i < count && !cursor->failed; i++) {
        if (reader->columns[1][i] >= YARN_DUMP_CPUS_MAX || reader->columns[2][i] > UINT32_MAX)
            cursor->failed = true;
    }
    return !cursor->failed;
}

int yarn_dump_read_samples(struct yarn_dump_record_reader *reader, struct yarn_span payload)
{
    int result = 0;
    struct batch batch;
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    if (!read_head(reader, &cursor, &batch) || !read_streams(reader, &cursor, &batch) ||
        !read_columns(reader, &cursor, batch.nr_samples)) {
        reader->summary->records_bad++;
        reader->models.is_out_of_step = true;
        return 0;
    }
    if (!check_events(reader, batch.nr_streams, &result))
        return result;
    size_t from = 0;
    for (size_t i = 0; i < batch.nr_streams; i++) {
        fill_stream(reader, &reader->streams[i], from);
        from += reader->streams[i].count;
    }
    merge_streams(reader, batch.nr_streams);
    if (reader->visitor->samples)
        result = reader->visitor->samples(reader->self, reader->samples, batch.nr_samples);
    return result;
}
