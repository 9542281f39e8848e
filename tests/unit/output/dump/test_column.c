/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "output/dump/column.h"
#include "tests/support/suite.h"

enum { COUNT = 300, BASE_NS = 1000000 };

static uint64_t random_state = 88172645463325252;

static uint64_t any(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state >> (random_state % 61);
}

static const enum yarn_dump_record batches[] = {
#define YARN_BATCH(number, NAME, names, row, prose) YARN_DUMP_RECORD_##NAME,
#include "output/dump/format.def"
};

static union yarn_dump_any_row rows[COUNT], got[COUNT];
static uint64_t numbers[COUNT];
static uint32_t longer[COUNT];
static const struct yarn_dump_column_scratch scratch = {numbers, longer};
static uint8_t data[COUNT * 100];

/* What each column of the batch can hold, and now and then the extremes of it. */
static void fill(enum yarn_dump_record batch)
{
    size_t nr_columns;
    const struct yarn_dump_field *columns = yarn_dump_fields_of(batch, &nr_columns);
    memset(rows, 0, sizeof rows);
    memset(got, 0, sizeof got);
    for (size_t i = 0; i < nr_columns; i++) {
        for (size_t k = 0; k < COUNT; k++) {
            uint8_t *row = (uint8_t *)rows + k * yarn_dump_row_bytes(batch);
            uint64_t number = k % 50 == 7 ? UINT64_MAX : any();
            if (columns[i].kind == YARN_DUMP_KIND_CPU)
                number &= 0x7fff;
            else if (columns[i].kind == YARN_DUMP_KIND_I32)
                number = (uint64_t)(int64_t)(int32_t)number;
            else if (columns[i].kind != YARN_DUMP_KIND_U64 &&
                     columns[i].kind != YARN_DUMP_KIND_I64 &&
                     columns[i].kind != YARN_DUMP_KIND_TIME)
                number &= UINT32_MAX;
            ck_assert(yarn_dump_field_scatter(&columns[i], &number, 1, 0, row, 0));
        }
    }
}

START_TEST(rows_of_each_batch_come_back)
{
    enum yarn_dump_record batch = batches[_i];
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, sizeof data);
    fill(batch);
    yarn_dump_columns_encode(&bytes, batch, rows, COUNT, BASE_NS, numbers);
    ck_assert(!bytes.full);
    struct yarn_cursor cursor = yarn_cursor_of(yarn_bytes_span(&bytes));
    yarn_dump_columns_decode(&cursor, batch, got, COUNT, BASE_NS, &scratch);
    ck_assert(!cursor.failed);
    ck_assert_uint_eq(yarn_cursor_left(&cursor), 0);
    ck_assert_mem_eq(got, rows, COUNT * yarn_dump_row_bytes(batch));
}
END_TEST

START_TEST(no_rows_take_no_bytes)
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, sizeof data);
    struct yarn_cursor cursor = yarn_cursor_of(YARN_SPAN_EMPTY);
    yarn_dump_columns_encode(&bytes, batches[_i], rows, 0, 0, numbers);
    ck_assert_uint_eq(bytes.size, 0);
    yarn_dump_columns_decode(&cursor, batches[_i], NULL, 0, 0, &scratch);
    ck_assert(!cursor.failed);
}
END_TEST

/* As FORMAT.md has it: frames of the symbols 5, 5, 6 and 300, with an offset each. */
START_TEST(columns_are_as_the_document_says)
{
    static const struct yarn_dump_frame_row frames[] = {
        {.symbol = 5, .offset = 1},
        {.symbol = 5, .offset = 200},
        {.symbol = 6, .offset = 2},
        {.symbol = 300, .offset = 70000},
    };
    static const uint8_t wanted[] = {
        0x09, 0x02, 0x00, 0xc9, 0x04,             /* zigzag of -5, 1, 0, -293 */
        0x00, 0x00, 0x00, 0x00,                   /* flags */
        0x01, 0xc8, 0x02, 0xf0, 0x01, 0xa2, 0x04, /* offsets, byte by byte */
    };
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, sizeof data);
    yarn_dump_columns_encode(&bytes, YARN_DUMP_RECORD_FRAMES, frames, 4, 0, numbers);
    ck_assert_uint_eq(bytes.size, sizeof wanted);
    ck_assert_mem_eq(data, wanted, sizeof wanted);
}
END_TEST

START_TEST(cut_columns_fail)
{
    enum yarn_dump_record batch = batches[_i];
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, sizeof data);
    fill(batch);
    yarn_dump_columns_encode(&bytes, batch, rows, COUNT, 0, numbers);
    for (size_t size = 0; size < bytes.size; size++) {
        struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(data, size));
        yarn_dump_columns_decode(&cursor, batch, got, COUNT, 0, &scratch);
        ck_assert(cursor.failed);
    }
}
END_TEST

/* A string's size of 2^32, a number of eleven bytes, one of more than 64 bits. */
static const struct {
    uint8_t size;
    uint8_t bytes[12];
} bad[] = {
    {5, {0x80, 0x80, 0x80, 0x80, 0x10}},
    {11, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0}},
    {10, {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2}},
};

START_TEST(numbers_that_do_not_fit_fail)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(bad[_i].bytes, bad[_i].size));
    yarn_dump_columns_decode(&cursor, YARN_DUMP_RECORD_STRINGS, got, 1, 0, &scratch);
    ck_assert(cursor.failed);
}
END_TEST

START_TEST(full_buffer_is_said)
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(data, 100);
    fill(YARN_DUMP_RECORD_SAMPLES);
    yarn_dump_columns_encode(&bytes, YARN_DUMP_RECORD_SAMPLES, rows, COUNT, 0, numbers);
    ck_assert(bytes.full);
    ck_assert_uint_le(bytes.size, 100);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("columns");
    TCase *tcase = tcase_create("every batch");
    tcase_add_loop_test(tcase, rows_of_each_batch_come_back, 0, (int)YARN_COUNT_OF(batches));
    tcase_add_loop_test(tcase, no_rows_take_no_bytes, 0, (int)YARN_COUNT_OF(batches));
    tcase_add_loop_test(tcase, cut_columns_fail, 0, (int)YARN_COUNT_OF(batches));
    tcase_add_test(tcase, columns_are_as_the_document_says);
    tcase_add_loop_test(tcase, numbers_that_do_not_fit_fail, 0, (int)YARN_COUNT_OF(bad));
    tcase_add_test(tcase, full_buffer_is_said);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
