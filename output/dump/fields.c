/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/fields.h"

enum { PLAIN = YARN_DUMP_PLAIN, DELTA = YARN_DUMP_DELTA, NEXT = YARN_DUMP_NEXT };

static const struct yarn_dump_field all[] = {
#define YARN_FIELD(NAME, name, KIND, member, prose)                                                \
    {#member, YARN_DUMP_RECORD_##NAME, YARN_DUMP_KIND_##KIND, PLAIN,                               \
     offsetof(struct yarn_dump_##name, member)},
#define YARN_COLUMN(NAME, row, KIND, ENCODING, member, prose)                                      \
    {#member, YARN_DUMP_RECORD_##NAME, YARN_DUMP_KIND_##KIND, ENCODING,                            \
     offsetof(struct yarn_dump_##row, member)},
#include "output/dump/format.def"
};

/* The fields of a record stand together. */
const struct yarn_dump_field *yarn_dump_fields_of(enum yarn_dump_record record, size_t *ret_count)
{
    size_t from = 0;
    while (from < YARN_COUNT_OF(all) && all[from].record != record)
        from++;
    size_t to = from;
    while (to < YARN_COUNT_OF(all) && all[to].record == record)
        to++;
    *ret_count = to - from;
    return from < to ? &all[from] : NULL;
}

size_t yarn_dump_row_bytes(enum yarn_dump_record batch)
{
    switch (batch) {
#define YARN_BATCH(number, NAME, names, row, prose)                                                \
    case YARN_DUMP_RECORD_##NAME:                                                                  \
        return sizeof(struct yarn_dump_##row);
#include "output/dump/format.def"
    default:
        return 0;
    }
}

/* In bytes, of a member that is a number. */
static size_t width_of(const struct yarn_dump_field *field)
{
    switch ((enum yarn_dump_kind)field->kind) {
    case YARN_DUMP_KIND_BOOL:
        return 1;
    case YARN_DUMP_KIND_U64:
    case YARN_DUMP_KIND_AMOUNT:
    case YARN_DUMP_KIND_I64:
    case YARN_DUMP_KIND_TIME:
        return 8;
    default:
        return 4;
    }
}

/* The offset from a member to its number in the file: none is 0 in the file and the greatest number
 * in memory; times count from the chunk's. */
static uint64_t added_to(const struct yarn_dump_field *field, uint64_t base_ns)
{
    if (field->kind == YARN_DUMP_KIND_REF)
        return 1;
    return field->kind == YARN_DUMP_KIND_TIME ? UINT64_C(0) - base_ns : 0;
}

static void gather_narrow(const struct yarn_dump_field *field, const uint8_t *member, size_t size,
                          size_t count, uint32_t added, uint64_t *ret_numbers)
{
    bool is_signed = field->kind == YARN_DUMP_KIND_I32;
    for (size_t i = 0; i < count; i++, member += size) {
        uint32_t number;
        memcpy(&number, member, sizeof number);
        number += added;
        ret_numbers[i] = is_signed ? (uint64_t)(int64_t)(int32_t)number : number;
    }
}

void yarn_dump_field_gather(const struct yarn_dump_field *field, const void *things, size_t size,
                            size_t count, uint64_t base_ns, uint64_t *ret_numbers)
{
    const uint8_t *member = (const uint8_t *)things + field->offset;
    uint64_t added = added_to(field, base_ns);
    size_t width = width_of(field);
    if (width == 4)
        gather_narrow(field, member, size, count, (uint32_t)added, ret_numbers);
    for (size_t i = 0; i < count && width == 1; i++, member += size)
        ret_numbers[i] = *member;
    for (size_t i = 0; i < count && width == 8; i++, member += size) {
        memcpy(&ret_numbers[i], member, sizeof ret_numbers[i]);
        ret_numbers[i] += added;
    }
}

static bool scatter_narrow(const struct yarn_dump_field *field, const uint64_t *numbers,
                           size_t count, uint32_t added, uint8_t *member, size_t size)
{
    uint64_t excess = 0;
    uint64_t offset = field->kind == YARN_DUMP_KIND_I32 ? UINT64_C(1) << 31 : 0;
    unsigned bits = field->kind == YARN_DUMP_KIND_CPU ? YARN_DUMP_CPU_BITS : 32;
    for (size_t i = 0; i < count; i++, member += size) {
        uint32_t number = (uint32_t)numbers[i] - added;
        memcpy(member, &number, sizeof number);
        excess |= (numbers[i] + offset) >> bits;
    }
    return !excess;
}

bool yarn_dump_field_scatter(const struct yarn_dump_field *field, const uint64_t *numbers,
                             size_t count, uint64_t base_ns, void *things, size_t size)
{
    uint8_t *member = (uint8_t *)things + field->offset;
    uint64_t added = added_to(field, base_ns);
    size_t width = width_of(field);
    if (width == 4)
        return scatter_narrow(field, numbers, count, (uint32_t)added, member, size);
    for (size_t i = 0; i < count && width == 1; i++, member += size)
        *member = numbers[i] != 0;
    for (size_t i = 0; i < count && width == 8; i++, member += size) {
        uint64_t number = numbers[i] - added;
        memcpy(member, &number, sizeof number);
    }
    return true;
}

static bool is_text(const struct yarn_dump_field *field)
{
    return field->kind == YARN_DUMP_KIND_TEXT;
}

size_t yarn_dump_fields_texts(enum yarn_dump_record record, const void *thing,
                              struct yarn_span ret_texts[YARN_DUMP_TEXTS_MAX])
{
    size_t count;
    size_t nr_texts = 0;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (is_text(&fields[i]))
            memcpy(&ret_texts[nr_texts++], (const uint8_t *)thing + fields[i].offset,
                   sizeof *ret_texts);
    }
    return nr_texts;
}

static void encode_field(struct yarn_byte_buffer *bytes, const struct yarn_dump_field *field,
                         const void *thing, uint64_t base_ns)
{
    uint64_t number;
    yarn_dump_field_gather(field, thing, 0, 1, base_ns, &number);
    yarn_bytes_uleb(bytes, yarn_dump_field_is_signed(field) ? yarn_zigzag_of(number) : number);
}

void yarn_dump_fields_encode(struct yarn_byte_buffer *bytes, enum yarn_dump_record record,
                             const void *thing, const uint64_t *references, uint64_t base_ns)
{
    size_t count;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (is_text(&fields[i]))
            yarn_bytes_uleb(bytes, *references++);
        else if (fields[i].kind != YARN_DUMP_KIND_VALUES)
            encode_field(bytes, &fields[i], thing, base_ns);
    }
}

/* A field that is not there is 0, or none. */
static void decode_field(struct yarn_cursor *cursor, const struct yarn_dump_field *field,
                         void *thing, uint64_t base_ns)
{
    uint64_t number = 0;
    bool is_there = yarn_cursor_left(cursor);
    if (is_there)
        number = yarn_cursor_uleb(cursor);
    if (yarn_dump_field_is_signed(field))
        number = yarn_zigzag_to(number);
    if (!is_there)
        base_ns = 0;
    if (!yarn_dump_field_scatter(field, &number, 1, base_ns, thing, 0))
        cursor->failed = true;
}

void yarn_dump_fields_decode(struct yarn_cursor *cursor, enum yarn_dump_record record,
                             union yarn_dump_any *ret_thing, uint64_t *ret_references,
                             uint64_t base_ns)
{
    size_t count;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    memset(ret_thing, 0, sizeof *ret_thing);
    for (size_t i = 0; i < count; i++) {
        if (is_text(&fields[i]))
            *ret_references++ = yarn_cursor_left(cursor) ? yarn_cursor_uleb(cursor) : 0;
        else if (fields[i].kind != YARN_DUMP_KIND_VALUES)
            decode_field(cursor, &fields[i], ret_thing, base_ns);
    }
}

void yarn_dump_fields_set_texts(enum yarn_dump_record record, union yarn_dump_any *thing,
                                const struct yarn_span *texts)
{
    size_t count;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (is_text(&fields[i]))
            memcpy((uint8_t *)thing + fields[i].offset, texts++, sizeof *texts);
    }
}

bool yarn_dump_fields_time(enum yarn_dump_record record, const void *thing, uint64_t *ret_time_ns)
{
    size_t count;
    const struct yarn_dump_field *fields = yarn_dump_fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind != YARN_DUMP_KIND_TIME)
            continue;
        yarn_dump_field_gather(&fields[i], thing, 0, 1, 0, ret_time_ns);
        return true;
    }
    return false;
}
