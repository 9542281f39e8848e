/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/record_reader.h"
#include "output/dump/words.h"

/* The rows of a batch without numbers. False, and counted, where it is malformed. */
static bool decode(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                   struct yarn_cursor *cursor, size_t *ret_count)
{
    (void)yarn_cursor_uleb(cursor);
    uint64_t count = yarn_cursor_uleb(cursor);
    if (!yarn_dump_take_things(reader, count))
        return false;
    yarn_dump_columns_decode(cursor, record, reader->rows, (size_t)count, reader->base_ns,
                             &reader->scratch);
    if (cursor->failed)
        reader->summary->records_bad++;
    *ret_count = (size_t)count;
    return !cursor->failed;
}

void yarn_dump_read_streams(struct yarn_dump_record_reader *reader, struct yarn_span payload)
{
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    reader->nr_streams = reader->nr_details = reader->nr_accesses = 0;
    if (!decode(reader, YARN_DUMP_RECORD_STREAMS, &cursor, &reader->nr_streams))
        return;
    memcpy(reader->streams, reader->rows, reader->nr_streams * sizeof *reader->streams);
}

void yarn_dump_read_details(struct yarn_dump_record_reader *reader, struct yarn_span payload)
{
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    size_t count = 0;
    reader->nr_details = 0;
    if (!decode(reader, YARN_DUMP_RECORD_DETAILS, &cursor, &count))
        return;
    const struct yarn_dump_detail_row *rows = (const void *)reader->rows;
    for (size_t i = 0; i < count && !cursor.failed; i++) {
        struct yarn_span raw = yarn_cursor_span(&cursor, rows[i].raw_bytes);
        reader->details[reader->nr_details++] = (struct yarn_dump_detail){
            .raw = yarn_dump_may_use(reader, raw) ? raw : YARN_SPAN_EMPTY,
            .address = rows[i].address,
            .sample = rows[i].sample,
        };
    }
    if (cursor.failed)
        reader->summary->records_bad++;
}

void yarn_dump_read_accesses(struct yarn_dump_record_reader *reader, struct yarn_span payload)
{
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    reader->nr_accesses = 0;
    if (decode(reader, YARN_DUMP_RECORD_ACCESSES, &cursor, &reader->nr_accesses) &&
        reader->nr_accesses)
        memcpy(reader->accesses, reader->rows, reader->nr_accesses * sizeof *reader->accesses);
}

static void take_accesses(struct yarn_dump_record_reader *reader, size_t nr_samples)
{
    for (size_t i = 0; i < reader->nr_accesses; i++) {
        const struct yarn_dump_access_row *access = &reader->accesses[i];
        if (access->sample >= nr_samples) {
            reader->summary->records_bad++;
            break;
        }
        reader->samples[access->sample].latency = access->latency;
        reader->samples[access->sample].data_source = access->data_source;
    }
    reader->nr_accesses = 0;
}

/* Before the samples change their places. */
static void take_details(struct yarn_dump_record_reader *reader, size_t nr_samples)
{
    for (size_t i = 0; i < reader->nr_details; i++) {
        const struct yarn_dump_detail *detail = &reader->details[i];
        if (detail->sample >= nr_samples) {
            reader->summary->records_bad++;
            break;
        }
        reader->samples[detail->sample].address = detail->address;
        reader->samples[detail->sample].raw =
            (struct yarn_bytes){detail->raw.data, detail->raw.size};
    }
    reader->nr_details = 0;
}

/* The streams that the batch is of, which are no other's; false where they do not add up to it. */
static bool take_streams(struct yarn_dump_record_reader *reader, size_t nr_samples,
                         size_t *ret_count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < reader->nr_streams; i++) {
        if (!reader->streams[i].count)
            return false;
        sum += reader->streams[i].count;
    }
    *ret_count = reader->nr_streams;
    reader->nr_streams = 0;
    return *ret_count && sum == nr_samples;
}

/* A stack that was lost with its chunk: the sample's time and weight are true without it. */
static void check_stack(struct yarn_dump_record_reader *reader, struct yarn_sample *sample)
{
    if (!yarn_dump_is_stack_end(sample->stack_end))
        sample->stack_end = YARN_DUMP_STACK_FAILED;
    if (sample->stack == YARN_DUMP_NONE)
        return;
    if (!yarn_dump_set_has(&reader->known.stacks, sample->stack)) {
        reader->summary->records_bad++;
        reader->summary->samples_nameless++;
    } else if (yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_BUDGET_FRAMES,
                                         reader->known.depths[sample->stack])) {
        return;
    }
    sample->stack = YARN_DUMP_NONE;
    sample->stack_end = YARN_DUMP_STACK_FAILED;
}

/* Sums over a file, and over some files, are numbers of 64 bits. */
static void check_weight(struct yarn_dump_record_reader *reader, struct yarn_sample *sample)
{
    if (yarn_dump_allowance_has(reader->allowance, YARN_DUMP_BUDGET_WEIGHT, sample->weight))
        return;
    sample->weight = 0;
    yarn_dump_note_excess(reader, YARN_DUMP_EXCESS_WEIGHT);
}

static void fill_stream(struct yarn_dump_record_reader *reader,
                        const struct yarn_dump_stream_row *stream, size_t from)
{
    const struct yarn_dump_sample_row *rows = (const void *)reader->rows;
    uint32_t event = yarn_dump_known_events_first(&reader->known.events, stream->event);
    uint64_t expected_ns = stream->first_ns;
    for (size_t i = from; i < from + stream->count; i++) {
        struct yarn_sample *sample = &reader->samples[i];
        *sample = (struct yarn_sample){
            .time_ns = expected_ns + (uint64_t)rows[i].time_ns,
            .weight = stream->weight + (uint64_t)rows[i].weight,
            .event = event,
            .flags = event != stream->event ? YARN_SAMPLE_ALTERNATE : 0,
            .tid = stream->tid,
            .cpu = rows[i].cpu,
            .stack = rows[i].stack,
            .stack_end = rows[i].stack_end,
        };
        expected_ns = sample->time_ns + stream->period_ns;
        check_stack(reader, sample);
        check_weight(reader, sample);
    }
}

/* Samples of [from, middle) and [middle, to), each in its order, by time. */
static void merge_two(const struct yarn_sample *samples, size_t from, size_t middle, size_t to,
                      struct yarn_sample *ret_merged)
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
    struct yarn_dump_stream_row *streams = reader->streams;
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
        struct yarn_sample *merged = reader->merged_samples;
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

static bool read_rows(struct yarn_dump_record_reader *reader, struct yarn_span payload,
                      size_t *ret_nr_samples, size_t *ret_nr_streams)
{
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    if (!decode(reader, YARN_DUMP_RECORD_SAMPLES, &cursor, ret_nr_samples))
        return false;
    if (!take_streams(reader, *ret_nr_samples, ret_nr_streams)) {
        reader->summary->records_bad++;
        return false;
    }
    return yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_BUDGET_SAMPLES, *ret_nr_samples);
}

int yarn_dump_read_samples(struct yarn_dump_record_reader *reader, struct yarn_span payload)
{
    int result = 0;
    size_t nr_samples, nr_streams;
    if (!read_rows(reader, payload, &nr_samples, &nr_streams))
        return 0;
    if (!check_events(reader, nr_streams, &result))
        return result;
    size_t from = 0;
    for (size_t i = 0; i < nr_streams; i++) {
        fill_stream(reader, &reader->streams[i], from);
        from += reader->streams[i].count;
    }
    take_details(reader, nr_samples);
    take_accesses(reader, nr_samples);
    merge_streams(reader, nr_streams);
    if (reader->visitor->samples)
        result = reader->visitor->samples(reader->self, reader->samples, nr_samples);
    return result;
}
