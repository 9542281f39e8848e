/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/record_reader.h"

#include <stdlib.h>

#include "output/dump/shown.h"
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

static void read_streams(struct yarn_dump_record_reader *reader, struct yarn_span payload)
{
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    reader->nr_streams = reader->nr_details = reader->nr_accesses = 0;
    if (!decode(reader, YARN_DUMP_RECORD_STREAMS, &cursor, &reader->nr_streams))
        return;
    memcpy(reader->streams, reader->rows, reader->nr_streams * sizeof *reader->streams);
}

static void read_details(struct yarn_dump_record_reader *reader, struct yarn_span payload)
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

static void read_accesses(struct yarn_dump_record_reader *reader, struct yarn_span payload)
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

static int read_samples(struct yarn_dump_record_reader *reader, struct yarn_span payload)
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

void yarn_dump_record_reader_open(struct yarn_dump_record_reader *reader,
                                  const struct yarn_dump_visitor *visitor, void *self,
                                  struct yarn_dump_summary *summary,
                                  struct yarn_dump_allowance *allowance)
{
    *reader = (struct yarn_dump_record_reader){
        .visitor = visitor,
        .self = self,
        .summary = summary,
        .allowance = allowance,
    };
}

static bool resize(void *array_at, size_t size)
{
    void *array;
    memcpy(&array, array_at, sizeof array);
    array = realloc(array, size);
    if (array)
        memcpy(array_at, &array, sizeof array);
    return array;
}

/* Only streams and details are kept from batch to batch. */
static bool make_room(struct yarn_dump_record_reader *reader, size_t count)
{
    if (count <= reader->capacity)
        return true;
    size_t capacity = yarn_size_min(yarn_size_max(2 * count, 256), YARN_DUMP_BATCH_MAX);
    reader->capacity = 0;
    if (!resize(&reader->rows, capacity * sizeof *reader->rows) ||
        !resize(&reader->scratch.numbers, capacity * sizeof *reader->scratch.numbers) ||
        !resize(&reader->scratch.longer, capacity * sizeof *reader->scratch.longer) ||
        !resize(&reader->samples, capacity * sizeof *reader->samples) ||
        !resize(&reader->merged_samples, capacity * sizeof *reader->merged_samples) ||
        !resize(&reader->streams, capacity * sizeof *reader->streams) ||
        !resize(&reader->details, capacity * sizeof *reader->details) ||
        !resize(&reader->accesses, capacity * sizeof *reader->accesses))
        return false;
    reader->capacity = capacity;
    return true;
}

void yarn_dump_record_reader_close(struct yarn_dump_record_reader *reader)
{
    free(reader->rows);
    free(reader->scratch.numbers);
    free(reader->scratch.longer);
    free(reader->samples);
    free(reader->merged_samples);
    free(reader->streams);
    free(reader->details);
    free(reader->accesses);
    yarn_dump_known_close(&reader->known);
    *reader = (struct yarn_dump_record_reader){.visitor = NULL};
}

int yarn_dump_record_reader_begin_epoch(struct yarn_dump_record_reader *reader)
{
    yarn_dump_known_clear_epoch(&reader->known);
    yarn_dump_allowance_reset_kept(reader->allowance);
    return reader->visitor->reset ? reader->visitor->reset(reader->self) : 0;
}

int yarn_dump_record_reader_begin_process(struct yarn_dump_record_reader *reader)
{
    yarn_dump_known_clear_process(&reader->known);
    yarn_dump_allowance_reset_kept(reader->allowance);
    reader->totals = (struct yarn_dump_totals){0};
    reader->summary->has_end = false;
    reader->awaits_process = true;
    return reader->visitor->reset ? reader->visitor->reset(reader->self) : 0;
}

void yarn_dump_note_excess(struct yarn_dump_record_reader *reader, enum yarn_dump_excess excess)
{
    static const char *const sentences[] = {
        [YARN_DUMP_EXCESS_DEPTH] = "a stack is deeper than any recorder goes, and left out",
        [YARN_DUMP_EXCESS_WEIGHT] =
            "weights have a sum that is no time and no count: further samples weigh nothing",
        [YARN_DUMP_EXCESS_AMOUNT] = "a number is larger than any time or count, and cut",
        [YARN_DUMP_EXCESS_TEXT] = "a text is longer than any recorder writes, and cut",
    };
    if (!(reader->reported & 1u << excess))
        yarn_dump_summary_add_damage(reader->summary, reader->offset, 0, sentences[excess]);
    reader->reported |= 1u << excess;
}

bool yarn_dump_may_keep(struct yarn_dump_record_reader *reader, uint64_t bytes)
{
    return yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_BUDGET_KEPT, bytes);
}

bool yarn_dump_may_use(struct yarn_dump_record_reader *reader, struct yarn_span text)
{
    return yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_BUDGET_UNPACKED, text.size);
}

bool yarn_dump_take_things(struct yarn_dump_record_reader *reader, uint64_t count)
{
    if (count > YARN_DUMP_BATCH_MAX || count > reader->things_left) {
        reader->summary->records_bad++;
        return false;
    }
    if (!yarn_dump_allowance_spend(reader->allowance, YARN_DUMP_BUDGET_DECODED, count))
        return false;
    if (!make_room(reader, (size_t)count)) {
        reader->allowance->error = -ENOMEM;
        return false;
    }
    reader->things_left -= (size_t)count;
    return true;
}

bool yarn_dump_check_event(struct yarn_dump_record_reader *reader, uint64_t number, int *ret_result)
{
    *ret_result = 0;
    if (yarn_dump_known_events_has(&reader->known.events, number))
        return true;
    reader->summary->records_bad++;
    const struct yarn_dump_event lost = {.number = (uint32_t)number};
    if (number >= YARN_DUMP_EVENTS_MAX || !yarn_dump_known_events_add(&reader->known.events, &lost))
        return false;
    if (reader->visitor->event)
        *ret_result = reader->visitor->event(reader->self, &lost);
    return true;
}

/* Sums of such are numbers of 64 bits. */
static uint64_t bounded(struct yarn_dump_record_reader *reader, uint64_t amount)
{
    const uint64_t most = UINT64_C(1) << 60;
    if (amount <= most)
        return amount;
    yarn_dump_note_excess(reader, YARN_DUMP_EXCESS_AMOUNT);
    return most;
}

static void bound_amounts(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                          union yarn_dump_any *thing)
{
    size_t count;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t amount;
        if (fields[i].kind != YARN_DUMP_KIND_AMOUNT)
            continue;
        yarn_dump_field_gather(&fields[i], thing, 0, 1, 0, &amount);
        amount = bounded(reader, amount);
        (void)yarn_dump_field_scatter(&fields[i], &amount, 1, 0, thing, 0);
    }
}

static void read_totals(struct yarn_dump_record_reader *reader, struct yarn_cursor *cursor,
                        struct yarn_dump_totals *totals)
{
    reader->totals.time_ns = totals->time_ns;
    while (yarn_cursor_left(cursor)) {
        uint64_t key = yarn_cursor_uleb(cursor);
        uint64_t value = yarn_cursor_uleb(cursor);
        if (!cursor->failed && key < YARN_DUMP_TOTAL_COUNT)
            reader->totals.value[key] = bounded(reader, value);
    }
    *totals = reader->totals;
}

static bool may_leap_to_module(struct yarn_dump_record_reader *reader, uint32_t number)
{
    uint32_t known = (uint32_t)reader->known.modules.nr_numbers;
    return number <= known || yarn_dump_may_keep(reader, (uint64_t)(number - known) * 12);
}

/* An event that the record names becomes the one that it is part of. */
static bool check_event_of(struct yarn_dump_record_reader *reader, uint32_t *event, int *ret_result)
{
    if (!yarn_dump_check_event(reader, *event, ret_result))
        return false;
    *event = yarn_dump_known_events_first(&reader->known.events, *event);
    return true;
}

/* What the record names; false where it cannot be handed on. */
static bool check_record(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                         union yarn_dump_any *thing, int *ret_result)
{
    switch (record) {
    case YARN_DUMP_RECORD_EVENT:
        return thing->event.number < YARN_DUMP_EVENTS_MAX &&
               yarn_dump_known_events_add(&reader->known.events, &thing->event);
    case YARN_DUMP_RECORD_MODULE:
        return thing->module.number < YARN_DUMP_MODULES_MAX &&
               may_leap_to_module(reader, thing->module.number) &&
               yarn_dump_set_add(&reader->known.modules, thing->module.number);
    case YARN_DUMP_RECORD_COUNT:
        if (!yarn_dump_check_event(reader, thing->count.event, ret_result))
            return false;
        yarn_dump_known_events_count(&reader->known.events, &thing->count);
        return true;
    case YARN_DUMP_RECORD_THROTTLE:
        return check_event_of(reader, &thing->throttle.event, ret_result);
    case YARN_DUMP_RECORD_LOST:
        return thing->lost.event == YARN_DUMP_NONE ||
               check_event_of(reader, &thing->lost.event, ret_result);
    case YARN_DUMP_RECORD_MESSAGE:
        if (!yarn_dump_is_message_kind(thing->message.kind))
            thing->message.kind = YARN_DUMP_MESSAGE_INFO;
        return true;
    case YARN_DUMP_RECORD_END:
        if (!yarn_dump_is_end_reason(thing->end.reason))
            thing->end.reason = YARN_DUMP_END_FAILED;
        reader->summary->has_end = true;
        return true;
    default:
        return true;
    }
}

static bool is_alternate(const struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                         const union yarn_dump_any *thing)
{
    const struct yarn_dump_known_events *events = &reader->known.events;
    return record == YARN_DUMP_RECORD_EVENT &&
           yarn_dump_known_events_first(events, thing->event.number) != thing->event.number;
}

static int show(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                const void *thing)
{
    if (!reader->visitor->shown || !yarn_dump_is_shown(record))
        return 0;
    return reader->visitor->shown(reader->self, record, thing);
}

static int visit_record(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                        const union yarn_dump_any *thing)
{
    int result = 0;
    const struct yarn_dump_visitor *visitor = reader->visitor;
    if (is_alternate(reader, record, thing))
        return visitor->alternate ? visitor->alternate(reader->self, &thing->event) : 0;
    switch (record) {
#define YARN_RECORD(number, NAME, name, prose)                                                     \
    case YARN_DUMP_RECORD_##NAME:                                                                  \
        result = visitor->name ? visitor->name(reader->self, &thing->name) : 0;                    \
        break;
#include "output/dump/format.def"
    default:
        break;
    }
    return result ? result : show(reader, record, thing);
}

/* Branches whose event was lost keep its number: it is none of the visitor's. */
static void join_events(struct yarn_dump_record_reader *reader, enum yarn_dump_record list,
                        size_t count)
{
    struct yarn_dump_branch *branches = (void *)reader->rows;
    for (size_t i = 0; list == YARN_DUMP_RECORD_BRANCHES && i < count; i++)
        if (yarn_dump_known_events_has(&reader->known.events, branches[i].event))
            branches[i].event =
                yarn_dump_known_events_first(&reader->known.events, branches[i].event);
}

static int visit_rows(struct yarn_dump_record_reader *reader, enum yarn_dump_record list,
                      size_t count)
{
    const struct yarn_dump_visitor *visitor = reader->visitor;
    const void *rows = reader->rows;
    switch (list) {
#define YARN_LIST(number, NAME, names, row, prose)                                                 \
    case YARN_DUMP_RECORD_##NAME:                                                                  \
        return visitor->names ? visitor->names(reader->self, rows, count) : 0;
#include "output/dump/format.def"
    default:
        (void)visitor;
        (void)rows;
        (void)count;
        return 0;
    }
}

static int read_list(struct yarn_dump_record_reader *reader, enum yarn_dump_record list,
                     struct yarn_span payload)
{
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    (void)yarn_cursor_uleb(&cursor); /* rows of a list have no numbers */
    uint64_t count = yarn_cursor_uleb(&cursor);
    if (!yarn_dump_take_things(reader, count))
        return 0;
    yarn_dump_columns_decode(&cursor, list, reader->rows, (size_t)count, reader->base_ns,
                             &reader->scratch);
    if (cursor.failed)
        reader->summary->records_bad++;
    if (cursor.failed)
        return 0;
    join_events(reader, list, (size_t)count);
    int result = visit_rows(reader, list, (size_t)count);
    const uint8_t *row = (const uint8_t *)reader->rows;
    for (uint64_t i = 0; i < count && !result; i++, row += yarn_dump_row_bytes(list))
        result = show(reader, list, row);
    return result;
}

/* What a visitor may keep of it. */
static uint64_t cost_of(const struct yarn_span *texts, size_t nr_texts)
{
    uint64_t cost = YARN_DUMP_COST_RECORD;
    for (size_t i = 0; i < nr_texts; i++)
        cost += texts[i].size;
    return cost;
}

static int read_structured(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                           struct yarn_span payload)
{
    union yarn_dump_any thing;
    uint64_t references[YARN_DUMP_TEXTS_MAX];
    struct yarn_span texts[YARN_DUMP_TEXTS_MAX];
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    yarn_dump_fields_decode(&cursor, record, &thing, references, reader->base_ns);
    size_t nr_texts = yarn_dump_fields_texts(record, &thing, texts);
    bool has_texts = true;
    for (size_t i = 0; i < nr_texts; i++)
        has_texts = yarn_dump_known_text(&reader->known, references[i], &texts[i]) && has_texts;
    for (size_t i = 0; i < nr_texts; i++) {
        if (!yarn_dump_may_use(reader, texts[i]))
            return 0;
    }
    yarn_dump_fields_set_texts(record, &thing, texts);
    if (record == YARN_DUMP_RECORD_TOTALS && !cursor.failed)
        read_totals(reader, &cursor, &thing.totals);
    if (cursor.failed || !has_texts)
        reader->summary->records_bad++;
    if (cursor.failed || !yarn_dump_may_keep(reader, cost_of(texts, nr_texts)))
        return 0;

    int result = 0;
    bound_amounts(reader, record, &thing);
    uint64_t bad = reader->summary->records_bad;
    if (!check_record(reader, record, &thing, &result)) {
        reader->summary->records_bad = bad + 1;
        return 0;
    }
    return result ? result : visit_record(reader, record, &thing);
}

static int read_record(struct yarn_dump_record_reader *reader, uint64_t type,
                       struct yarn_span payload)
{
    switch (type) {
#define YARN_RECORD(number, NAME, name, prose) case YARN_DUMP_RECORD_##NAME:
#include "output/dump/format.def"
        return read_structured(reader, (enum yarn_dump_record)type, payload);
    case YARN_DUMP_RECORD_STRINGS:
    case YARN_DUMP_RECORD_SYMBOLS:
    case YARN_DUMP_RECORD_FRAMES:
    case YARN_DUMP_RECORD_STACKS:
        return yarn_dump_read_batch(reader, (enum yarn_dump_record)type, payload);
    case YARN_DUMP_RECORD_STREAMS:
        read_streams(reader, payload);
        return 0;
    case YARN_DUMP_RECORD_DETAILS:
        read_details(reader, payload);
        return 0;
    case YARN_DUMP_RECORD_ACCESSES:
        read_accesses(reader, payload);
        return 0;
    case YARN_DUMP_RECORD_SAMPLES:
        return read_samples(reader, payload);
#define YARN_LIST(number, NAME, names, row, prose) case YARN_DUMP_RECORD_##NAME:
#include "output/dump/format.def"
        return read_list(reader, (enum yarn_dump_record)type, payload);
    default:
        reader->summary->records_unknown++;
        return 0;
    }
}

/* A process whose own record was lost is still another one than the process before. */
static int expect_process(struct yarn_dump_record_reader *reader, uint64_t type)
{
    if (!reader->awaits_process || type == YARN_DUMP_RECORD_STRINGS)
        return 0;
    reader->awaits_process = false;
    const struct yarn_dump_process lost = {.pid = 0};
    if (type == YARN_DUMP_RECORD_PROCESS || !reader->visitor->process)
        return 0;
    return reader->visitor->process(reader->self, &lost);
}

void yarn_dump_record_reader_begin(struct yarn_dump_record_reader *reader, uint64_t base_ns,
                                   struct yarn_span payload, uint64_t offset)
{
    reader->chunk = yarn_cursor_of(payload);
    reader->base_ns = base_ns;
    reader->offset = offset;
    reader->reported = 0;
    reader->things_left = YARN_DUMP_BATCH_MAX + payload.size;
    reader->nr_streams = reader->nr_details = reader->nr_accesses = 0;
}

bool yarn_dump_record_reader_has_more(const struct yarn_dump_record_reader *reader)
{
    return yarn_cursor_left(&reader->chunk);
}

int yarn_dump_record_reader_next(struct yarn_dump_record_reader *reader)
{
    uint64_t type = yarn_cursor_uleb(&reader->chunk);
    uint64_t size = yarn_cursor_uleb(&reader->chunk);
    struct yarn_span record = yarn_cursor_span(&reader->chunk, size);
    if (reader->chunk.failed) {
        reader->summary->records_bad++;
        yarn_dump_summary_add_damage(reader->summary, reader->offset, 0,
                                     "a record is larger than its chunk");
        return 0;
    }
    reader->summary->has_end = false; /* an end that something follows was taken back */
    int result = expect_process(reader, type);
    if (!result)
        result = read_record(reader, type, record);
    return result ? result : reader->allowance->error;
}
