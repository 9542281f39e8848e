/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/column.h"

static void encode_delta(uint64_t *numbers, size_t count)
{
    uint64_t before = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = numbers[i];
        numbers[i] = yarn_zigzag_of(number - before);
        before = number;
    }
}

static void encode_next(uint64_t *numbers, size_t count)
{
    uint64_t next = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = numbers[i];
        numbers[i] = yarn_zigzag_of(next - number);
        next = yarn_u64_max(next, number + 1);
    }
}

static void encode_numbers(const struct yarn_dump_field *column, uint64_t *numbers, size_t count)
{
    switch ((enum yarn_dump_encoding)column->encoding) {
    case YARN_DUMP_PLAIN:
        for (size_t i = 0; i < count && yarn_dump_field_is_signed(column); i++)
            numbers[i] = yarn_zigzag_of(numbers[i]);
        break;
    case YARN_DUMP_DELTA:
        encode_delta(numbers, count);
        break;
    case YARN_DUMP_NEXT:
        encode_next(numbers, count);
        break;
    }
}

/* What goes on moves to the front, without a branch that nobody could predict. */
static void put_varints(struct yarn_byte_buffer *bytes, uint64_t *numbers, size_t count)
{
    while (count) {
        size_t nr_longer = 0;
        if (yarn_bytes_room(bytes) < count) {
            bytes->full = true;
            return;
        }
        uint8_t *place = bytes->data + bytes->size;
        for (size_t i = 0; i < count; i++) {
            uint64_t rest = numbers[i] >> 7;
            bool is_longer = rest != 0;
            place[i] = (uint8_t)((numbers[i] & 0x7f) | (is_longer ? 0x80 : 0));
            numbers[nr_longer] = rest;
            nr_longer += is_longer;
        }
        bytes->size += count;
        count = nr_longer;
    }
}

void yarn_dump_columns_encode(struct yarn_byte_buffer *bytes, enum yarn_dump_record batch,
                              const void *rows, size_t count, uint64_t base_ns, uint64_t *scratch)
{
    size_t nr_columns;
    const struct yarn_dump_field *columns = yarn_dump_fields_of(batch, &nr_columns);
    for (size_t i = 0; i < nr_columns; i++) {
        yarn_dump_field_gather(&columns[i], rows, yarn_dump_row_bytes(batch), count, base_ns,
                               scratch);
        encode_numbers(&columns[i], scratch, count);
        put_varints(bytes, scratch, count);
    }
}
