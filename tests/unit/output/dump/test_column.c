/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>

#include "output/dump/column.h"
#include "tests/support/suite.h"

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
    yarn_column_decode(&cursor, NULL, got, COUNT);
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
        yarn_column_decode(&cursor, NULL, got, COUNT);
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
        yarn_column_decode(&cursor, NULL, got, count);
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
    yarn_column_decode(&cursor, NULL, got, 4);
    ck_assert(cursor.failed);
}
END_TEST

static struct yarn_column_model writing, reading;

static void reset_models(void)
{
    yarn_column_model_reset(&writing);
    yarn_column_model_reset(&reading);
}

static size_t encode_and_decode(enum yarn_column_encoding encoding, const uint64_t *values,
                                size_t count)
{
    static uint8_t data[COUNT * 20];
    uint64_t got[COUNT];
    struct yarn_bytes bytes = yarn_bytes_of(data, sizeof data);
    yarn_column_encode_modelled(&bytes, &writing, encoding, values, count);
    yarn_bytes_u8(&bytes, 0xa5);
    ck_assert(!bytes.full);
    struct yarn_cursor cursor = yarn_cursor_of(yarn_bytes_span(&bytes));
    yarn_column_decode(&cursor, &reading, got, count);
    ck_assert(!cursor.failed);
    ck_assert_uint_eq(yarn_cursor_u8(&cursor), 0xa5);
    ck_assert_uint_eq(yarn_cursor_left(&cursor), 0);
    ck_assert(memcmp(got, values, count * sizeof *got) == 0);
    return bytes.size - 1;
}

/* Many columns one after the other, of all shapes and sizes. */
START_TEST(modelled_columns_come_back)
{
    for (int encoding = YARN_COLUMN_MODELLED; encoding <= YARN_COLUMN_MODELLED_RECENT; encoding++) {
        reset_models();
        for (size_t round = 0; round < 400; round++) {
            uint64_t values[COUNT];
            fill((int)(any() % 9), values);
            if (any() % 4 == 0)
                values[any() % COUNT] = any() % 2 ? UINT64_MAX : any() % 3;
            encode_and_decode((enum yarn_column_encoding)encoding, values, any() % (COUNT + 1));
        }
        ck_assert(memcmp(&writing, &reading, sizeof writing) == 0);
    }
}
END_TEST

START_TEST(every_length_of_number_comes_back)
{
    uint64_t values[COUNT];
    size_t count = 0;
    for (unsigned bits = 0; bits < 64; bits++) {
        values[count++] = UINT64_C(1) << bits;
        values[count++] = (UINT64_C(1) << bits) - 1;
        values[count++] = any() >> bits;
    }
    values[count++] = UINT64_MAX;
    reset_models();
    encode_and_decode(YARN_COLUMN_MODELLED, values, count);
    for (size_t i = 0; i < count; i++)
        encode_and_decode(YARN_COLUMN_MODELLED, &values[i], 1);
}
END_TEST

/* The same kind of numbers takes fewer bytes once it is known. */
START_TEST(model_learns)
{
    uint64_t values[COUNT];
    size_t first = 0, last = 0;
    reset_models();
    for (size_t round = 0; round < 20; round++) {
        for (size_t i = 0; i < COUNT; i++)
            values[i] = i % 10 ? 1 : 1000 + any() % 24;
        last = encode_and_decode(YARN_COLUMN_MODELLED, values, COUNT);
        first = first ? first : last;
    }
    /* 0.47 bits tell which of them it is; one in ten has 7 bits that are not learned. */
    ck_assert_uint_lt(last, COUNT * (47 + 70 + 15) / 100 / 8);
    ck_assert_uint_lt(last, first);
}
END_TEST

/* The example of FORMAT.md. */
START_TEST(modelled_column_has_these_bytes)
{
    const uint64_t values[] = {1, 1, 7, 1, 300, 1, 1, 100000};
    static const uint8_t in_the_text[] = {8, 7, 0x59, 0xba, 0xa0, 0xdd, 0x5d, 0xc8, 0x66};
    uint8_t data[64];
    struct yarn_bytes bytes = yarn_bytes_of(data, sizeof data);
    reset_models();
    yarn_column_encode_modelled(&bytes, &writing, YARN_COLUMN_MODELLED, values,
                                YARN_COUNT_OF(values));
    ck_assert_uint_eq(bytes.size, sizeof in_the_text);
    ck_assert_mem_eq(data, in_the_text, sizeof in_the_text);
}
END_TEST

START_TEST(modelled_column_needs_a_model)
{
    const uint64_t values[] = {1, 100000};
    uint64_t got[2];
    uint8_t data[64];
    struct yarn_bytes bytes = yarn_bytes_of(data, sizeof data);
    reset_models();
    yarn_column_encode_modelled(&bytes, &writing, YARN_COLUMN_MODELLED, values, 2);
    struct yarn_cursor cursor = yarn_cursor_of(yarn_bytes_span(&bytes));
    yarn_column_decode(&cursor, NULL, got, 2);
    ck_assert(cursor.failed);
    for (size_t size = 0; size < bytes.size; size++) {
        cursor = yarn_cursor_of(yarn_span_of(data, size));
        yarn_column_decode(&cursor, &reading, got, 2);
        ck_assert(cursor.failed);
    }
}
END_TEST

START_TEST(any_bytes_are_numbers)
{
    uint64_t got[COUNT];
    reset_models();
    for (size_t round = 0; round < 2000; round++) {
        uint8_t data[66] = {(uint8_t)(YARN_COLUMN_MODELLED + any() % 3), 64};
        for (size_t i = 2; i < sizeof data; i++)
            data[i] = any() % 5 ? (uint8_t)any() : 0xff;
        uint8_t *copy = malloc(sizeof data);
        memcpy(copy, data, sizeof data);
        struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(copy, sizeof data));
        yarn_column_decode(&cursor, &reading, got, COUNT);
        ck_assert(!cursor.failed);
        free(copy);
    }
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
    tcase = tcase_create("models");
    tcase_add_test(tcase, modelled_columns_come_back);
    tcase_add_test(tcase, every_length_of_number_comes_back);
    tcase_add_test(tcase, model_learns);
    tcase_add_test(tcase, modelled_column_has_these_bytes);
    tcase_add_test(tcase, modelled_column_needs_a_model);
    tcase_add_test(tcase, any_bytes_are_numbers);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
