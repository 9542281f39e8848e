/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "output/dump/column.h"

enum { COUNT = 300 };

static uint64_t random_state = 88172645463325252;

static uint64_t any(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Columns as they come, and what each should be encoded as. */
static void fill(int shape, uint64_t *values)
{
    for (size_t i = 0; i < COUNT; i++) {
        switch (shape) {
        case 0:
            values[i] = UINT64_MAX;
            break;
        case 1:
            values[i] = any() % 3 ? any() % 128 : any() % 100000;
            break;
        case 2:
            values[i] = (UINT64_C(1) << 40) - i * 100 + any() % 50;
            break;
        case 3:
            values[i] = 5000 + i / 50;
            break;
        case 4:
            values[i] = 1000000 + i * 7 + (i > 100 ? 50000 : 0);
            break;
        case 5:
            values[i] = UINT64_C(1) << 33 | (any() & 1023);
            break;
        case 6:
            values[i] = 5000000 + i - (i % 2 ? 0 : any() % 120);
            break;
        case 7:
            values[i] = i % 10 ? 1 : any() % 100000;
            break;
        default:
            values[i] = any();
            break;
        }
    }
}

static const struct {
    enum yarn_column_encoding encoding;
    size_t most; /* bytes */
} wanted[] = {
    {YARN_COLUMN_CONSTANT, 11}, {YARN_COLUMN_PLAIN, 600},     {YARN_COLUMN_DELTA, 640},
    {YARN_COLUMN_RUNS, 40},     {YARN_COLUMN_DELTA_RUNS, 20}, {YARN_COLUMN_PACKED, 400},
    {YARN_COLUMN_RECENT, 450},  {YARN_COLUMN_MOSTLY, 130},    {YARN_COLUMN_PACKED, 2412},
};

START_TEST(each_shape_takes_its_encoding_and_comes_back)
{
    uint64_t values[COUNT];
    uint64_t got[COUNT];
    uint8_t data[COUNT * 11];
    fill(_i, values);
    struct yarn_bytes bytes = yarn_bytes_of(data, sizeof data);
    yarn_column_encode(&bytes, values, COUNT);
    ck_assert(!bytes.full);
    ck_assert_uint_eq(data[0], wanted[_i].encoding);
    ck_assert_uint_le(bytes.size, wanted[_i].most);
    struct yarn_cursor cursor = yarn_cursor_of(yarn_bytes_span(&bytes));
    yarn_column_decode(&cursor, got, COUNT);
    ck_assert(!cursor.failed);
    ck_assert_uint_eq(yarn_cursor_left(&cursor), 0);
    ck_assert_mem_eq(got, values, sizeof values);
}
END_TEST

START_TEST(each_cut_column_fails)
{
    uint64_t values[COUNT];
    uint64_t got[COUNT];
    uint8_t data[COUNT * 11];
    fill(_i, values);
    struct yarn_bytes bytes = yarn_bytes_of(data, sizeof data);
    yarn_column_encode(&bytes, values, COUNT);
    for (size_t size = 0; size < bytes.size; size++) {
        struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(data, size));
        yarn_column_decode(&cursor, got, COUNT);
        ck_assert(cursor.failed);
    }
}
END_TEST

START_TEST(few_values_come_back)
{
    const uint64_t values[] = {3, UINT64_MAX, 0};
    for (size_t count = 0; count <= 3; count++) {
        uint64_t got[3] = {9, 9, 9};
        uint8_t data[64];
        struct yarn_bytes bytes = yarn_bytes_of(data, sizeof data);
        yarn_column_encode(&bytes, values, count);
        struct yarn_cursor cursor = yarn_cursor_of(yarn_bytes_span(&bytes));
        yarn_column_decode(&cursor, got, count);
        ck_assert(!cursor.failed);
        ck_assert_uint_eq(yarn_cursor_left(&cursor), 0);
        ck_assert(memcmp(got, values, count * sizeof *got) == 0);
        ck_assert(count == 3 || got[count] == 9);
    }
}
END_TEST

static const struct {
    size_t size;
    uint8_t bytes[8];
} malformed[] = {
    {2, {YARN_COLUMN_ENCODING_COUNT, 0}},     /* no such encoding */
    {2, {0xff, 0}},                           /* nor this */
    {3, {YARN_COLUMN_RUNS, 0, 1}},            /* a run of none */
    {3, {YARN_COLUMN_RUNS, 5, 1}},            /* a run of too many */
    {3, {YARN_COLUMN_DELTA_RUNS, 5, 1}},      /* too */
    {4, {YARN_COLUMN_PACKED, 0, 65, 1}},      /* wider than a value */
    {5, {YARN_COLUMN_PACKED, 0, 16, 1, 1}},   /* too few bits */
    {4, {YARN_COLUMN_MOSTLY, 7, 1, 4}},       /* an other behind the end */
    {5, {YARN_COLUMN_MOSTLY, 7, 0xff, 0x7f}}, /* more others than values */
    {3, {YARN_COLUMN_CONSTANT, 0x80, 0x80}},  /* a varint without an end */
};

START_TEST(malformed_column_fails)
{
    uint64_t got[4];
    struct yarn_cursor cursor =
        yarn_cursor_of(yarn_span_of(malformed[_i].bytes, malformed[_i].size));
    yarn_column_decode(&cursor, got, 4);
    ck_assert(cursor.failed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("column");
    TCase *tcase = tcase_create("values");
    tcase_add_loop_test(tcase, each_shape_takes_its_encoding_and_comes_back, 0,
                        (int)YARN_COUNT_OF(wanted));
    tcase_add_loop_test(tcase, each_cut_column_fails, 0, (int)YARN_COUNT_OF(wanted));
    tcase_add_test(tcase, few_values_come_back);
    tcase_add_loop_test(tcase, malformed_column_fails, 0, (int)YARN_COUNT_OF(malformed));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
