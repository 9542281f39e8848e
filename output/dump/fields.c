/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/fields.h"

enum kind { U32, U64, I32, I64, BOOL, REF, TIME, TEXT };

struct field {
    uint8_t record;
    uint8_t kind;
    uint16_t offset;
};

static const struct field all[] = {
#define YARN_FIELD(NAME, name, KIND, member, since, prose)                                         \
    {YARN_DUMP_RECORD_##NAME, KIND, offsetof(struct yarn_dump_##name, member)},
#include "output/dump/format.def"
};

/* The fields of a record stand together. */
static const struct field *fields_of(enum yarn_dump_record record, size_t *ret_count)
{
    size_t from = 0;
    while (from < YARN_COUNT_OF(all) && all[from].record != record)
        from++;
    size_t to = from;
    while (to < YARN_COUNT_OF(all) && all[to].record == record)
        to++;
    *ret_count = to - from;
    return &all[from];
}

static uint32_t u32_at(const void *thing, size_t offset)
{
    uint32_t value;
    memcpy(&value, (const uint8_t *)thing + offset, sizeof value);
    return value;
}

static uint64_t u64_at(const void *thing, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const uint8_t *)thing + offset, sizeof value);
    return value;
}

size_t yarn_dump_fields_texts(enum yarn_dump_record record, const void *thing,
                              struct yarn_span ret_texts[YARN_DUMP_TEXTS_MAX])
{
    size_t count;
    size_t nr_texts = 0;
    const struct field *fields = fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == TEXT)
            memcpy(&ret_texts[nr_texts++], (const uint8_t *)thing + fields[i].offset,
                   sizeof *ret_texts);
    }
    return nr_texts;
}

static void encode_field(struct yarn_bytes *bytes, const struct field *field, const void *thing,
                         uint64_t base_ns)
{
    switch ((enum kind)field->kind) {
    case U32:
        yarn_bytes_uleb(bytes, u32_at(thing, field->offset));
        break;
    case U64:
        yarn_bytes_uleb(bytes, u64_at(thing, field->offset));
        break;
    case I32:
        yarn_bytes_zigzag(bytes, (int32_t)u32_at(thing, field->offset));
        break;
    case I64:
        yarn_bytes_zigzag(bytes, (int64_t)u64_at(thing, field->offset));
        break;
    case BOOL:
        yarn_bytes_uleb(bytes, ((const uint8_t *)thing)[field->offset]);
        break;
    case REF:
        yarn_bytes_uleb(bytes, (uint32_t)(u32_at(thing, field->offset) + 1));
        break;
    case TIME:
        yarn_bytes_zigzag(bytes, (int64_t)(u64_at(thing, field->offset) - base_ns));
        break;
    case TEXT:
        break;
    }
}

void yarn_dump_fields_encode(struct yarn_bytes *bytes, enum yarn_dump_record record,
                             const void *thing, const uint64_t *references, uint64_t base_ns)
{
    size_t count;
    const struct field *fields = fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == TEXT)
            yarn_bytes_uleb(bytes, *references++);
        else
            encode_field(bytes, &fields[i], thing, base_ns);
    }
}

static void set_u32(struct yarn_cursor *cursor, uint8_t *member, uint64_t value)
{
    if (value > UINT32_MAX)
        cursor->failed = true;
    uint32_t narrow = (uint32_t)value;
    memcpy(member, &narrow, sizeof narrow);
}

static void set_i32(struct yarn_cursor *cursor, uint8_t *member, int64_t value)
{
    if (value < INT32_MIN || value > INT32_MAX)
        cursor->failed = true;
    int32_t narrow = (int32_t)value;
    memcpy(member, &narrow, sizeof narrow);
}

static void set_u64(uint8_t *member, uint64_t value)
{
    memcpy(member, &value, sizeof value);
}

/* None is 0 in the file and the greatest number in memory. */
static void set_reference(struct yarn_cursor *cursor, uint8_t *member, uint64_t value)
{
    set_u32(cursor, member, value ? value - 1 : YARN_DUMP_NONE);
}

static void decode_field(struct yarn_cursor *cursor, const struct field *field, uint8_t *thing,
                         uint64_t base_ns)
{
    uint8_t *member = thing + field->offset;
    switch ((enum kind)field->kind) {
    case U32:
        set_u32(cursor, member, yarn_cursor_uleb(cursor));
        break;
    case U64:
        set_u64(member, yarn_cursor_uleb(cursor));
        break;
    case I32:
        set_i32(cursor, member, yarn_cursor_zigzag(cursor));
        break;
    case I64:
        set_u64(member, (uint64_t)yarn_cursor_zigzag(cursor));
        break;
    case BOOL:
        *member = yarn_cursor_uleb(cursor) != 0;
        break;
    case REF:
        set_reference(cursor, member, yarn_cursor_uleb(cursor));
        break;
    case TIME:
        set_u64(member, base_ns + (uint64_t)yarn_cursor_zigzag(cursor));
        break;
    case TEXT:
        break;
    }
}

/* Of a record that was written before the field was. */
static void set_default(const struct field *field, uint8_t *thing)
{
    uint32_t none = YARN_DUMP_NONE;
    if (field->kind == REF)
        memcpy(thing + field->offset, &none, sizeof none);
}

void yarn_dump_fields_decode(struct yarn_cursor *cursor, enum yarn_dump_record record,
                             union yarn_dump_any *ret_thing, uint64_t *ret_references,
                             uint64_t base_ns)
{
    size_t count;
    const struct field *fields = fields_of(record, &count);
    memset(ret_thing, 0, sizeof *ret_thing);
    for (size_t i = 0; i < count; i++) {
        bool is_there = cursor->at < cursor->span.size;
        if (fields[i].kind == TEXT)
            *ret_references++ = is_there ? yarn_cursor_uleb(cursor) : 0;
        else if (is_there)
            decode_field(cursor, &fields[i], (uint8_t *)ret_thing, base_ns);
        else
            set_default(&fields[i], (uint8_t *)ret_thing);
    }
}

void yarn_dump_fields_set_texts(enum yarn_dump_record record, union yarn_dump_any *thing,
                                const struct yarn_span *texts)
{
    size_t count;
    const struct field *fields = fields_of(record, &count);
    for (size_t i = 0; i < count; i++) {
        if (fields[i].kind == TEXT)
            memcpy((uint8_t *)thing + fields[i].offset, texts++, sizeof *texts);
    }
}
