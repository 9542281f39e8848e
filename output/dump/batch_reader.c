/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/record_reader.h"

/* Things of these numbers are what a batch defines. */
struct range {
    uint32_t first;
    uint32_t count;
};

static uint64_t limit_of(enum yarn_dump_record record)
{
    switch (record) {
    case YARN_DUMP_RECORD_STRINGS:
        return YARN_DUMP_STRINGS_MAX;
    case YARN_DUMP_RECORD_SYMBOLS:
        return YARN_DUMP_SYMBOLS_MAX;
    case YARN_DUMP_RECORD_FRAMES:
        return YARN_DUMP_FRAMES_MAX;
    default:
        return YARN_DUMP_STACKS_MAX;
    }
}

static bool leap(struct yarn_dump_record_reader *reader, const struct yarn_dump_set *set,
                 struct range range, size_t size)
{
    size_t leapt = range.first > set->nr_numbers ? range.first - set->nr_numbers : 0;
    return !leapt || yarn_dump_may_keep(reader, (uint64_t)leapt * size);
}

/* Tables are by number: a leap costs what lies below it. */
static bool may_leap(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                     struct range range)
{
    const struct yarn_dump_known *known = &reader->known;
    switch (record) {
    case YARN_DUMP_RECORD_STRINGS:
        return leap(reader, &known->strings, range, sizeof *known->texts);
    case YARN_DUMP_RECORD_SYMBOLS:
        return leap(reader, &known->symbols, range, 4 * sizeof *known->symbol_starts);
    case YARN_DUMP_RECORD_FRAMES:
        return leap(reader, &known->frames, range, sizeof range.first);
    default:
        return leap(reader, &known->stacks, range, 2 * sizeof range.first);
    }
}

static void read_strings(struct yarn_dump_record_reader *reader, struct yarn_cursor *cursor,
                         struct range range)
{
    const struct yarn_dump_string_row *rows = (const void *)reader->rows;
    for (uint32_t i = 0; i < range.count && !cursor->failed; i++) {
        struct yarn_span text = yarn_cursor_span(cursor, rows[i].size);
        if (cursor->failed)
            break;
        if (text.size > YARN_DUMP_TEXT_MAX)
            yarn_dump_note_excess(reader, YARN_DUMP_EXCESS_TEXT);
        text = yarn_span_sub(text, 0, yarn_size_min(text.size, YARN_DUMP_TEXT_MAX));
        if (yarn_dump_may_keep(reader, YARN_DUMP_COST_TEXT + text.size) &&
            !yarn_dump_known_add_text(&reader->known, range.first + i, text))
            reader->summary->records_bad++;
    }
}

/* Named or not, of a known module or not: what was lost with other chunks is left out. */
static struct yarn_dump_symbol resolve_symbol(struct yarn_dump_record_reader *reader,
                                              uint32_t number,
                                              const struct yarn_dump_symbol_row *row)
{
    struct yarn_dump_symbol symbol = {
        .number = number,
        .module = YARN_DUMP_NONE,
        .start = row->start,
        .end = row->start + row->size,
    };
    bool has_module = yarn_dump_set_has(&reader->known.modules, row->module);
    bool has_name = yarn_dump_known_text(&reader->known, row->name, &symbol.name);
    if (!yarn_dump_may_use(reader, symbol.name))
        symbol.name = YARN_SPAN_EMPTY;
    if (has_module)
        symbol.module = row->module;
    if (!has_name || (!has_module && row->module != YARN_DUMP_NONE))
        reader->summary->records_bad++;
    return symbol;
}

static int read_symbols(struct yarn_dump_record_reader *reader, struct range range)
{
    int result = 0;
    const struct yarn_dump_symbol_row *rows = (const void *)reader->rows;
    for (uint32_t i = 0; i < range.count && !result; i++) {
        uint32_t number = range.first + i;
        if (!yarn_dump_may_keep(reader, YARN_DUMP_COST_SYMBOL))
            continue;
        if (!yarn_dump_known_add_symbol(&reader->known, number, rows[i].start)) {
            reader->summary->records_bad++;
            continue;
        }
        struct yarn_dump_symbol symbol = resolve_symbol(reader, number, &rows[i]);
        if (reader->visitor->symbol)
            result = reader->visitor->symbol(reader->self, &symbol);
    }
    return result;
}

static int read_frames(struct yarn_dump_record_reader *reader, struct range range)
{
    int result = 0;
    struct yarn_dump_known *known = &reader->known;
    const struct yarn_dump_frame_row *rows = (const void *)reader->rows;
    for (uint32_t i = 0; i < range.count && !result; i++) {
        uint32_t number = range.first + i;
        if (!yarn_dump_set_has(&known->symbols, rows[i].symbol) ||
            yarn_dump_set_has(&known->frames, number)) {
            reader->summary->records_bad++;
            continue;
        }
        if (!yarn_dump_may_keep(reader, YARN_DUMP_COST_FRAME) ||
            !yarn_dump_set_add(&known->frames, number))
            continue;
        const struct yarn_dump_frame frame = {
            .number = number,
            .symbol = rows[i].symbol,
            .flags = rows[i].flags,
            .address = known->symbol_starts[rows[i].symbol] + rows[i].offset,
        };
        if (reader->visitor->frame)
            result = reader->visitor->frame(reader->self, &frame);
    }
    return result;
}

/* False, and noted, where that is too much. */
static bool add_stack(struct yarn_dump_record_reader *reader, uint32_t number, uint32_t distance)
{
    struct yarn_dump_known *known = &reader->known;
    unsigned depth = distance ? known->depths[number - distance] + 1u : 1;
    if (depth > YARN_DUMP_DEPTH_MAX) {
        yarn_dump_note_excess(reader, YARN_DUMP_EXCESS_DEPTH);
        return false;
    }
    return yarn_dump_may_keep(reader, YARN_DUMP_COST_STACK) &&
           yarn_dump_known_add_stack(known, number, (uint16_t)depth);
}

static int read_stacks(struct yarn_dump_record_reader *reader, struct range range)
{
    int result = 0;
    struct yarn_dump_known *known = &reader->known;
    const struct yarn_dump_stack_row *rows = (const void *)reader->rows;
    for (uint32_t i = 0; i < range.count && !result; i++) {
        uint32_t number = range.first + i;
        uint32_t distance = rows[i].distance;
        bool has_parent =
            distance <= number && yarn_dump_set_has(&known->stacks, number - distance);
        if ((distance && !has_parent) || !yarn_dump_set_has(&known->frames, rows[i].frame) ||
            yarn_dump_set_has(&known->stacks, number)) {
            reader->summary->records_bad++;
            continue;
        }
        if (!add_stack(reader, number, distance))
            continue;
        const struct yarn_dump_stack stack = {
            .number = number,
            .parent = distance ? number - distance : YARN_DUMP_NONE,
            .frame = rows[i].frame,
            .depth = known->depths[number],
        };
        if (reader->visitor->stack)
            result = reader->visitor->stack(reader->self, &stack);
    }
    return result;
}

static int read_things(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                       struct yarn_cursor *cursor, struct range range)
{
    yarn_dump_columns_decode(cursor, record, reader->rows, range.count, reader->base_ns,
                             &reader->scratch);
    if (cursor->failed)
        return 0;
    switch (record) {
    case YARN_DUMP_RECORD_STRINGS:
        read_strings(reader, cursor, range);
        return 0;
    case YARN_DUMP_RECORD_SYMBOLS:
        return read_symbols(reader, range);
    case YARN_DUMP_RECORD_FRAMES:
        return read_frames(reader, range);
    default:
        return read_stacks(reader, range);
    }
}

int yarn_dump_read_batch(struct yarn_dump_record_reader *reader, enum yarn_dump_record record,
                         struct yarn_span payload)
{
    int result = 0;
    struct yarn_cursor cursor = yarn_cursor_of(payload);
    uint64_t first = yarn_cursor_uleb(&cursor);
    uint64_t count = yarn_cursor_uleb(&cursor);
    if (!yarn_dump_take_things(reader, count))
        return 0;
    if (first >= limit_of(record) || count > limit_of(record) - first)
        cursor.failed = true;
    uint64_t nr_bad = reader->summary->records_bad;
    struct range range = {(uint32_t)first, (uint32_t)count};
    if (!cursor.failed && !may_leap(reader, record, range))
        cursor.failed = true;
    if (!cursor.failed)
        result = read_things(reader, record, &cursor, range);
    if (cursor.failed && reader->summary->records_bad == nr_bad)
        reader->summary->records_bad++;
    return result;
}
