/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/writer.h"

#include "core/base/pages.h"
#include "output/dump/fields.h"
#include "output/dump/pending.h"

enum {
    TOTALS_ALL_EVERY = 64, /* records of totals */
};

#define INTERNED_BYTES YARN_MIB(32)

struct yarn_dump_writer {
    uint32_t epoch;
    bool has_process;
    bool has_totals;
    uint32_t nr_totals; /* records since the last that had all */
    struct yarn_dump_totals totals;
    struct yarn_dump_interner interner;
    struct yarn_dump_sink sink;
    struct yarn_dump_pending pending;
};

/* Which number a string, a symbol or a stack has in this epoch: tables within a bound. Strings and
 * symbols are known by a 64-bit hash of what they are (two different ones of one hash would become
 * one; among a million that is one chance in 10^7), stacks exactly. What does not fit into a
 * full table still gets a number; it is then stored again the next time.
 *
 * Knows no bytes of the file. */

enum {
    SLOT_BYTES = 16, /* of a table */
    FIRST_SLOTS = 256,
};

/* Idempotent. */
static void close_interner(struct yarn_dump_interner *interner)
{
    yarn_table_close(&interner->strings);
    yarn_table_close(&interner->symbols);
    yarn_table_close(&interner->stacks);
    yarn_room_close(&interner->starts);
}

/* Most of what is interned are stacks: they get half of the memory. A table that doubles needs half
 * as much again for a moment, which is left for it. */
static int open_interner(struct yarn_dump_interner *interner, size_t bound)
{
    size_t slots = bound / SLOT_BYTES;
    struct yarn_dump_interner opened = {
        .max_symbols =
            yarn_size_min(yarn_size_max(bound / 16 / sizeof(uint64_t), 64), YARN_DUMP_SYMBOLS_MAX),
    };
    int err = yarn_table_open(&opened.strings, FIRST_SLOTS, slots / 8);
    if (err)
        goto fail;
    err = yarn_table_open(&opened.symbols, FIRST_SLOTS, slots / 8);
    if (err)
        goto fail;
    err = yarn_table_open(&opened.stacks, FIRST_SLOTS, slots / 3);
    if (err)
        goto fail;
    yarn_room_open(&opened.starts, opened.max_symbols * sizeof(uint64_t));
    *interner = opened;
    return 0;

fail:
    close_interner(&opened);
    return err;
}

/* Numbering restarts at 0. */
static void restart_interner(struct yarn_dump_interner *interner)
{
    yarn_table_clear(&interner->strings);
    yarn_table_clear(&interner->symbols);
    yarn_table_clear(&interner->stacks);
    interner->nr_strings = 0;
    interner->nr_symbols = 0;
    interner->nr_frames = 0;
    interner->nr_stacks = 0;
    interner->is_crowded = false;
}

/* The key's number; a new key gets *next, which is incremented. */
static uint32_t find_or_add(struct yarn_dump_interner *interner, struct yarn_table *table,
                            uint64_t key, uint32_t *next, size_t max, bool *ret_is_new)
{
    uint32_t number = yarn_table_find(table, key);
    if (number != YARN_TABLE_NONE) {
        *ret_is_new = false;
        return number;
    }
    if (*next >= max) {
        interner->is_crowded = true;
        return YARN_DUMP_NONE;
    }
    if (yarn_table_put(table, key, *next))
        interner->is_crowded = true;
    *ret_is_new = true;
    return (*next)++;
}

/* The number; *ret_is_new says that it must be stored. YARN_DUMP_NONE where there are no more. */
static uint32_t number_of_string(struct yarn_dump_interner *interner, struct yarn_span text,
                                 bool *ret_is_new)
{
    return find_or_add(interner, &interner->strings, yarn_span_hash(text, 0), &interner->nr_strings,
                       YARN_DUMP_STRINGS_MAX, ret_is_new);
}

static uint32_t number_of_symbol(struct yarn_dump_interner *interner,
                                 const struct yarn_dump_symbol *symbol, bool *ret_is_new)
{
    uint64_t key = yarn_span_hash(symbol->name, yarn_hash_u64(symbol->start) + symbol->module);
    size_t most = interner->max_symbols;
    if (!yarn_room_back(&interner->starts, (interner->nr_symbols + 1) * sizeof(uint64_t)))
        most = interner->nr_symbols;
    interner->symbol_starts = (uint64_t *)interner->starts.base;
    uint32_t number =
        find_or_add(interner, &interner->symbols, key, &interner->nr_symbols, most, ret_is_new);
    if (number != YARN_DUMP_NONE && *ret_is_new)
        interner->symbol_starts[number] = symbol->start;
    return number;
}

static uint32_t number_of_stack(struct yarn_dump_interner *interner, uint32_t parent,
                                uint32_t frame, bool *ret_is_new)
{
    uint64_t key = (uint64_t)parent << 32 | frame;
    return find_or_add(interner, &interner->stacks, key, &interner->nr_stacks, YARN_DUMP_STACKS_MAX,
                       ret_is_new);
}

static uint32_t number_of_frame(struct yarn_dump_interner *interner)
{
    if (interner->nr_frames >= YARN_DUMP_FRAMES_MAX) {
        interner->is_crowded = true;
        return YARN_DUMP_NONE;
    }
    return interner->nr_frames++;
}

int yarn_dump_writer_new(struct yarn_dump_writer **ret_writer,
                         const struct yarn_dump_writer_limits *limits)
{
    size_t bound = limits && limits->interned_bytes ? limits->interned_bytes : INTERNED_BYTES;
    struct yarn_dump_writer *writer = yarn_pages_map(sizeof *writer);
    if (!writer)
        return -ENOMEM;
    int err = open_interner(&writer->interner, bound);
    if (err)
        goto fail;
    err = yarn_dump_sink_init(&writer->sink);
    if (err)
        goto fail;
    yarn_dump_pending_init(&writer->pending, &writer->sink);
    *ret_writer = writer;
    return 0;

fail:
    close_interner(&writer->interner);
    yarn_pages_unmap(writer, sizeof *writer);
    return err;
}

int yarn_dump_writer_renew(struct yarn_dump_writer *writer)
{
    close_interner(&writer->interner);
    yarn_dump_sink_renew(&writer->sink);
    memset(writer, 0, offsetof(struct yarn_dump_writer, sink));
    yarn_dump_pending_init(&writer->pending, &writer->sink);
    return open_interner(&writer->interner, INTERNED_BYTES);
}

int yarn_dump_writer_open(struct yarn_dump_writer *writer, int fd)
{
    return yarn_dump_sink_open(&writer->sink, fd);
}

void yarn_dump_writer_free(struct yarn_dump_writer *writer)
{
    if (!writer)
        return;
    yarn_dump_sink_close(&writer->sink);
    close_interner(&writer->interner);
    yarn_pages_unmap(writer, sizeof *writer);
}

int yarn_dump_writer_error(const struct yarn_dump_writer *writer)
{
    return writer->sink.error;
}

uint64_t yarn_dump_writer_bytes_written(const struct yarn_dump_writer *writer)
{
    return writer->sink.bytes_written;
}

bool yarn_dump_writer_is_empty(const struct yarn_dump_writer *writer)
{
    return writer->sink.bytes_written == YARN_DUMP_FILE_HEADER_BYTES;
}

uint32_t yarn_dump_writer_epoch(const struct yarn_dump_writer *writer)
{
    return writer->epoch;
}

static void flush(struct yarn_dump_writer *writer)
{
    yarn_dump_pending_seal(&writer->pending);
    yarn_dump_sink_flush(&writer->sink);
    yarn_dump_sink_reset_time(&writer->sink);
}

static void begin_epoch(struct yarn_dump_writer *writer)
{
    flush(writer);
    restart_interner(&writer->interner);
    writer->epoch++;
    writer->sink.chunk.epoch++;
}

void yarn_dump_writer_flush(struct yarn_dump_writer *writer)
{
    if (writer->sink.error)
        return;
    flush(writer);
    if (writer->interner.is_crowded)
        begin_epoch(writer);
}

/* 0 for the empty text (and where there are no more numbers), else its number + 1. */
static uint64_t intern_text(struct yarn_dump_writer *writer, struct yarn_span text)
{
    bool is_new;
    if (!text.size)
        return 0;
    text = yarn_span_sub(text, 0, yarn_size_min(text.size, YARN_DUMP_TEXT_MAX));
    uint32_t number = number_of_string(&writer->interner, text, &is_new);
    if (number == YARN_DUMP_NONE)
        return 0;
    if (is_new)
        yarn_dump_pending_add_string(&writer->pending, number, text);
    return (uint64_t)number + 1;
}

static struct yarn_byte_buffer encode_record(struct yarn_dump_writer *writer,
                                             enum yarn_dump_record record, const void *thing,
                                             uint64_t base_ns, uint8_t data[YARN_DUMP_RECORD_MAX])
{
    struct yarn_span texts[YARN_DUMP_TEXTS_MAX];
    uint64_t references[YARN_DUMP_TEXTS_MAX];
    struct yarn_byte_buffer payload = yarn_bytes_of(data, YARN_DUMP_RECORD_MAX);
    size_t nr_texts = yarn_dump_fields_texts(record, thing, texts);
    for (size_t i = 0; i < nr_texts; i++)
        references[i] = intern_text(writer, texts[i]);
    yarn_dump_fields_encode(&payload, record, thing, references, base_ns);
    return payload;
}

static uint64_t base_for(struct yarn_dump_writer *writer, enum yarn_dump_record record,
                         const void *thing)
{
    uint64_t time_ns;
    if (!yarn_dump_fields_time(record, thing, &time_ns))
        return 0;
    return yarn_dump_sink_time(&writer->sink, time_ns);
}

static void write_record(struct yarn_dump_writer *writer, enum yarn_dump_record record,
                         const void *thing)
{
    uint8_t data[YARN_DUMP_RECORD_MAX];
    uint64_t base_ns = base_for(writer, record, thing);
    struct yarn_byte_buffer payload = encode_record(writer, record, thing, base_ns, data);
    yarn_dump_pending_add_record(&writer->pending, record, yarn_bytes_span(&payload));
}

/* A second one begins another process of a merged dump. */
static void begin_process(struct yarn_dump_writer *writer)
{
    if (writer->has_process) {
        begin_epoch(writer);
        if (writer->sink.chunk.process == UINT16_MAX)
            writer->sink.error = -EOVERFLOW;
        writer->sink.chunk.process++;
        writer->sink.chunk.epoch = 0;
        writer->has_totals = false;
        writer->nr_totals = 0;
        writer->totals = (struct yarn_dump_totals){0};
    }
    writer->has_process = true;
}

bool yarn_dump_writer_recover(struct yarn_dump_writer *writer)
{
    if (!yarn_dump_sink_recover(&writer->sink))
        return false;
    yarn_dump_pending_drop(&writer->pending);
    begin_epoch(writer);
    writer->has_process &= !yarn_dump_writer_is_empty(writer);
    return true;
}

/* The totals of what is in the file, where not everything came there. */
static struct yarn_dump_totals without_unwritten(const struct yarn_dump_writer *writer,
                                                 const struct yarn_dump_totals *totals)
{
    static const enum yarn_dump_total keys[YARN_DUMP_STACK_END_COUNT] = {
        [YARN_DUMP_STACK_COMPLETE] = YARN_DUMP_TOTAL_STACKS_COMPLETE,
        [1] = YARN_DUMP_TOTAL_STACKS_JOINED,
        [YARN_DUMP_STACK_TRUNCATED] = YARN_DUMP_TOTAL_STACKS_TRUNCATED,
        [YARN_DUMP_STACK_NO_UNWIND_INFO] = YARN_DUMP_TOTAL_STACKS_NO_UNWIND_INFO,
        [YARN_DUMP_STACK_FAILED] = YARN_DUMP_TOTAL_STACKS_FAILED,
        [YARN_DUMP_STACK_NONE] = YARN_DUMP_TOTAL_STACKS_NONE,
    };
    struct yarn_dump_totals corrected = *totals;
    uint64_t counted = totals->value[YARN_DUMP_TOTAL_SAMPLES], written = 0;
    if (!writer->sink.is_recovered)
        return corrected;
    for (size_t i = 0; i < YARN_DUMP_STACK_END_COUNT; i++) {
        corrected.value[keys[i]] = writer->sink.written[i];
        written += writer->sink.written[i];
    }
    corrected.value[YARN_DUMP_TOTAL_SAMPLES] = written;
    corrected.value[YARN_DUMP_TOTAL_LOST] += yarn_u64_minus(counted, written);
    return corrected;
}

static void write_totals(struct yarn_dump_writer *writer, const struct yarn_dump_totals *given,
                         bool is_all)
{
    const struct yarn_dump_totals all = without_unwritten(writer, given), *totals = &all;
    uint8_t data[YARN_DUMP_RECORD_MAX];
    bool has_change = is_all;
    uint64_t base_ns = base_for(writer, YARN_DUMP_RECORD_TOTALS, totals);
    struct yarn_byte_buffer payload =
        encode_record(writer, YARN_DUMP_RECORD_TOTALS, totals, base_ns, data);
    for (uint32_t key = 0; key < YARN_DUMP_TOTAL_COUNT; key++) {
        if (!is_all && totals->value[key] == writer->totals.value[key])
            continue;
        has_change = true;
        yarn_bytes_uleb(&payload, key);
        yarn_bytes_uleb(&payload, totals->value[key]);
    }
    if (!has_change)
        return;
    yarn_dump_pending_add_record(&writer->pending, YARN_DUMP_RECORD_TOTALS,
                                 yarn_bytes_span(&payload));
    writer->nr_totals = is_all ? 1 : (writer->nr_totals + 1) % TOTALS_ALL_EVERY;
    writer->totals = *totals;
    writer->has_totals = true;
}

static void write_end(struct yarn_dump_writer *writer, const struct yarn_dump_end *end)
{
    if (writer->has_totals)
        write_totals(writer, &writer->totals, true);
    yarn_dump_pending_seal(&writer->pending);
    write_record(writer, YARN_DUMP_RECORD_END, end);
    flush(writer);
}

static void write_process(struct yarn_dump_writer *writer, const struct yarn_dump_process *process)
{
    begin_process(writer);
    (void)yarn_dump_sink_time(&writer->sink, process->start_ns);
    write_record(writer, YARN_DUMP_RECORD_PROCESS, process);
}

/* A thread id may come again: the samples of the thread before must not stand behind this. */
static void write_thread(struct yarn_dump_writer *writer, const struct yarn_dump_thread *thread)
{
    if (yarn_dump_pending_has_thread(&writer->pending, thread->tid))
        yarn_dump_pending_seal(&writer->pending);
    write_record(writer, YARN_DUMP_RECORD_THREAD, thread);
}

void yarn_dump_write(struct yarn_dump_writer *writer, enum yarn_dump_record record,
                     const void *thing)
{
    if (writer->sink.error)
        return;
    switch (record) {
    case YARN_DUMP_RECORD_PROCESS:
        write_process(writer, thing);
        break;
    case YARN_DUMP_RECORD_THREAD:
        write_thread(writer, thing);
        break;
    case YARN_DUMP_RECORD_TOTALS:
        write_totals(writer, thing, writer->nr_totals == 0);
        break;
    case YARN_DUMP_RECORD_END:
        write_end(writer, thing);
        break;
    default:
        write_record(writer, record, thing);
        break;
    }
}

void yarn_dump_write_list(struct yarn_dump_writer *writer, enum yarn_dump_record list,
                          const void *rows, size_t count)
{
    if (writer->sink.error || !count)
        return;
    (void)base_for(writer, list, rows);
    yarn_dump_pending_add_list(&writer->pending, list, rows, count);
}

uint32_t yarn_dump_intern_symbol(struct yarn_dump_writer *writer,
                                 const struct yarn_dump_symbol *symbol)
{
    bool is_new;
    if (writer->sink.error)
        return YARN_DUMP_NONE;
    uint32_t number = number_of_symbol(&writer->interner, symbol, &is_new);
    if (number == YARN_DUMP_NONE) {
        begin_epoch(writer);
        number = number_of_symbol(&writer->interner, symbol, &is_new);
    }
    if (number != YARN_DUMP_NONE && is_new) {
        uint64_t name = intern_text(writer, symbol->name);
        yarn_dump_pending_add_symbol(&writer->pending, number, symbol, name);
    }
    return number;
}

uint32_t yarn_dump_add_frame(struct yarn_dump_writer *writer, const struct yarn_dump_frame *frame)
{
    if (writer->sink.error || frame->symbol >= writer->interner.nr_symbols)
        return YARN_DUMP_NONE;
    uint32_t number = number_of_frame(&writer->interner);
    if (number != YARN_DUMP_NONE)
        yarn_dump_pending_add_frame(&writer->pending, number, frame,
                                    writer->interner.symbol_starts[frame->symbol]);
    return number;
}

uint32_t yarn_dump_intern_stack(struct yarn_dump_writer *writer, uint32_t parent, uint32_t frame)
{
    bool is_new;
    if (writer->sink.error || frame >= writer->interner.nr_frames)
        return YARN_DUMP_NONE;
    if (parent != YARN_DUMP_NONE && parent >= writer->interner.nr_stacks)
        return YARN_DUMP_NONE;
    uint32_t number = number_of_stack(&writer->interner, parent, frame, &is_new);
    if (number != YARN_DUMP_NONE && is_new)
        yarn_dump_pending_add_stack(&writer->pending, number, parent, frame);
    return number;
}

void yarn_dump_write_sample(struct yarn_dump_writer *writer, const struct yarn_sample *sample)
{
    if (writer->sink.error)
        return;
    struct yarn_sample checked = *sample;
    if (checked.stack >= writer->interner.nr_stacks)
        checked.stack = YARN_DUMP_NONE;
    yarn_dump_pending_add_sample(&writer->pending, &checked);
}
