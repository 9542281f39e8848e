/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The definitions of format.def as a table: the fields of structured records and the columns of
 * batches; and the encoding of structured records. Knows kinds of fields; does not know what they
 * mean, nor where texts are kept: the caller turns texts into references (0 for the empty one, else
 * number + 1) and back.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/base/bytes.h"
#include "output/dump/format.h"
#include "output/dump/types.h"

enum yarn_dump_kind {
    YARN_DUMP_KIND_U32,
    YARN_DUMP_KIND_U64,
    YARN_DUMP_KIND_AMOUNT, /* as U64; sums of such have 64 bits */
    YARN_DUMP_KIND_I32,
    YARN_DUMP_KIND_I64,
    YARN_DUMP_KIND_BOOL,
    YARN_DUMP_KIND_REF,
    YARN_DUMP_KIND_TID, /* as U32 */
    YARN_DUMP_KIND_CPU, /* as U32 */
    YARN_DUMP_KIND_TIME,
    YARN_DUMP_KIND_TEXT,
    YARN_DUMP_KIND_VALUES, /* of TOTALS, which encodes them itself */
};

/* How the numbers of a column are stored. */
enum yarn_dump_encoding {
    YARN_DUMP_PLAIN, /* as they are */
    YARN_DUMP_DELTA, /* differences from the previous row */
    YARN_DUMP_NEXT,  /* differences from 1 + the highest so far */
};

struct yarn_dump_field {
    const char *name;
    uint8_t record;   /* enum yarn_dump_record */
    uint8_t kind;     /* enum yarn_dump_kind */
    uint8_t encoding; /* enum yarn_dump_encoding, of a column */
    uint16_t offset;  /* in the record's struct, or the row's */
};

/* In the order of the file. None for an unknown record. */
const struct yarn_dump_field *yarn_dump_fields_of(enum yarn_dump_record record, size_t *ret_count);
/* Of a batch's struct yarn_dump_<row>. */
size_t yarn_dump_row_bytes(enum yarn_dump_record batch);

/* The struct of types.h for the record; the row struct of the batch. */
union yarn_dump_any {
#define YARN_RECORD(number, NAME, name, prose) struct yarn_dump_##name name;
#include "output/dump/format.def"
};
union yarn_dump_any_row {
#define YARN_BATCH(number, NAME, names, row, prose) struct yarn_dump_##row row;
#include "output/dump/format.def"
};

enum { YARN_DUMP_TEXTS_MAX = 8 }; /* texts of one record */

/* The record's texts in order of its fields, as members of the struct; how many. */
size_t yarn_dump_fields_texts(enum yarn_dump_record record, const void *thing,
                              struct yarn_span ret_texts[YARN_DUMP_TEXTS_MAX]);

/* `references`: of the texts, in the same order. */
void yarn_dump_fields_encode(struct yarn_byte_buffer *bytes, enum yarn_dump_record record,
                             const void *thing, const uint64_t *references, uint64_t base_ns);

/* Fields that the record does not have become 0 (none, for references to things); texts are left to
 * yarn_dump_fields_set_texts. Fails the cursor where a field is malformed. Leaves it behind the
 * last field that is known. */
void yarn_dump_fields_decode(struct yarn_cursor *cursor, enum yarn_dump_record record,
                             union yarn_dump_any *ret_thing, uint64_t *ret_references,
                             uint64_t base_ns);
void yarn_dump_fields_set_texts(enum yarn_dump_record record, union yarn_dump_any *thing,
                                const struct yarn_span *texts);

/* The time of a record or a row, which is the first field of that kind; false where it has none. */
bool yarn_dump_fields_time(enum yarn_dump_record record, const void *thing, uint64_t *ret_time_ns);

/* Numbers as stored in the file (texts of structured records excepted): of one member of many rows
 * that are `size` bytes apart. */
void yarn_dump_field_gather(const struct yarn_dump_field *field, const void *things, size_t size,
                            size_t count, uint64_t base_ns, uint64_t *ret_numbers);
/* The reverse; false where a number does not fit. */
bool yarn_dump_field_scatter(const struct yarn_dump_field *field, const uint64_t *numbers,
                             size_t count, uint64_t base_ns, void *things, size_t size);

/* True for signed kinds, which are stored as zigzag. */
static inline bool yarn_dump_field_is_signed(const struct yarn_dump_field *field)
{
    return field->kind == YARN_DUMP_KIND_I32 || field->kind == YARN_DUMP_KIND_I64 ||
           field->kind == YARN_DUMP_KIND_TIME;
}

static inline uint64_t yarn_zigzag_of(uint64_t value)
{
    return (value << 1) ^ (uint64_t)((int64_t)value >> 63);
}

static inline uint64_t yarn_zigzag_to(uint64_t zigzag)
{
    return (zigzag >> 1) ^ (UINT64_C(0) - (zigzag & 1));
}
