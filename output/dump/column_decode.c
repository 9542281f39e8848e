/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/column.h"

enum { LAST_SHIFT = 63 }; /* of the tenth byte of a varint, which has one bit */

/* The first bytes; how many numbers go on, and which. */
static size_t take_first_bytes(const uint8_t *bytes, size_t count,
                               const struct yarn_dump_column_scratch *scratch)
{
    size_t nr_longer = 0;
    for (size_t i = 0; i < count; i++) {
        scratch->numbers[i] = bytes[i] & 0x7f;
        scratch->longer[nr_longer] = (uint32_t)i;
        nr_longer += bytes[i] >> 7;
    }
    return nr_longer;
}

static size_t take_further_bytes(const uint8_t *bytes, size_t count, unsigned shift,
                                 const struct yarn_dump_column_scratch *scratch)
{
    size_t nr_longer = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t which = scratch->longer[i];
        scratch->numbers[which] |= (uint64_t)(bytes[i] & 0x7f) << shift;
        scratch->longer[nr_longer] = which;
        nr_longer += bytes[i] >> 7;
    }
    return nr_longer;
}

static bool ends_in_time(const uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] > 1)
            return false;
    }
    return true;
}

static void take_varints(struct yarn_cursor *cursor, size_t count,
                         const struct yarn_dump_column_scratch *scratch)
{
    struct yarn_span bytes = yarn_cursor_span(cursor, count);
    if (cursor->failed)
        return;
    size_t nr_longer = take_first_bytes(bytes.data, count, scratch);
    for (unsigned shift = 7; nr_longer; shift += 7) {
        bytes = yarn_cursor_span(cursor, nr_longer);
        if (cursor->failed || (shift == LAST_SHIFT && !ends_in_time(bytes.data, nr_longer))) {
            cursor->failed = true;
            return;
        }
        nr_longer = take_further_bytes(bytes.data, nr_longer, shift, scratch);
    }
}

static void decode_delta(uint64_t *numbers, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++) {
        number += yarn_zigzag_to(numbers[i]);
        numbers[i] = number;
    }
}

static void decode_next(uint64_t *numbers, size_t count)
{
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        numbers[i] = next - yarn_zigzag_to(numbers[i]);
        next = yarn_u64_max(next, numbers[i] + 1);
    }
}

static void decode_numbers(const struct yarn_dump_field *column, uint64_t *numbers, size_t count)
{
    switch ((enum yarn_dump_encoding)column->encoding) {
    case YARN_DUMP_PLAIN:
        for (size_t i = 0; i < count && yarn_dump_field_is_signed(column); i++)
            numbers[i] = yarn_zigzag_to(numbers[i]);
        break;
    case YARN_DUMP_DELTA:
        decode_delta(numbers, count);
        break;
    case YARN_DUMP_NEXT:
        decode_next(numbers, count);
        break;
    }
}

void yarn_dump_columns_decode(struct yarn_cursor *cursor, enum yarn_dump_record batch,
                              void *ret_rows, size_t count, uint64_t base_ns,
                              const struct yarn_dump_column_scratch *scratch)
{
    size_t nr_columns;
    const struct yarn_dump_field *columns = yarn_dump_fields_of(batch, &nr_columns);
    for (size_t i = 0; i < nr_columns && count && !cursor->failed; i++) {
        take_varints(cursor, count, scratch);
        if (cursor->failed)
            return;
        decode_numbers(&columns[i], scratch->numbers, count);
        if (!yarn_dump_field_scatter(&columns[i], scratch->numbers, count, base_ns, ret_rows,
                                     yarn_dump_row_bytes(batch)))
            cursor->failed = true;
    }
}
