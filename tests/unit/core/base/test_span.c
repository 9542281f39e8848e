/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/span.h"
#include "tests/support/suite.h"

static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

START_TEST(a_part_outside_of_a_span_is_empty)
{
    struct yarn_span span = yarn_span_of(bytes, sizeof bytes);
    ck_assert_uint_eq(yarn_span_sub(span, 2, 3).size, 3);
    ck_assert_ptr_eq(yarn_span_sub(span, 2, 3).data, bytes + 2);
    ck_assert_uint_eq(yarn_span_sub(span, 9, 0).size, 0);
    ck_assert_ptr_null(yarn_span_sub(span, 8, 2).data);
    ck_assert_ptr_null(yarn_span_sub(span, UINT64_MAX, 2).data);
    ck_assert_ptr_null(yarn_span_sub(span, 2, UINT64_MAX).data);
    ck_assert_uint_eq(yarn_span_from(span, 4).size, 5);
    ck_assert_ptr_null(yarn_span_from(span, 10).data);
}
END_TEST

START_TEST(spans_of_the_same_bytes_are_equal)
{
    ck_assert(yarn_span_equal(yarn_span_of_text("abc"), yarn_span_of("abcd", 3)));
    ck_assert(!yarn_span_equal(yarn_span_of_text("abc"), yarn_span_of_text("abd")));
    ck_assert(!yarn_span_equal(yarn_span_of_text("abc"), yarn_span_of_text("ab")));
    ck_assert(yarn_span_equal(YARN_SPAN_EMPTY, yarn_span_of_text("")));
}
END_TEST

START_TEST(a_text_without_its_nul_is_none)
{
    struct yarn_span span = yarn_span_of("one\0two", 7);
    ck_assert_str_eq(yarn_span_text(span, 0), "one");
    ck_assert_ptr_null(yarn_span_text(span, 4));
    ck_assert_ptr_null(yarn_span_text(span, 7));
}
END_TEST

START_TEST(a_read_past_the_end_leaves_the_value_alone)
{
    uint32_t value = 7;
    ck_assert(!yarn_span_read(yarn_span_of(bytes, 3), 0, &value, sizeof value));
    ck_assert_uint_eq(value, 7);
}
END_TEST

START_TEST(a_cursor_reads_little_endian_from_front_to_back)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(bytes, sizeof bytes));
    ck_assert_uint_eq(yarn_cursor_u8(&cursor), 1);
    ck_assert_uint_eq(yarn_cursor_u16(&cursor), 0x0302);
    ck_assert_uint_eq(yarn_cursor_u32(&cursor), 0x07060504);
    ck_assert_uint_eq(yarn_cursor_left(&cursor), 2);
    ck_assert(!cursor.failed);
    cursor = yarn_cursor_of(yarn_span_of(bytes, sizeof bytes));
    ck_assert_uint_eq(yarn_cursor_u64(&cursor), UINT64_C(0x0807060504030201));
}
END_TEST

START_TEST(a_cursor_that_met_the_end_yields_zeros_for_ever)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(bytes, 3));
    ck_assert_uint_eq(yarn_cursor_u32(&cursor), 0);
    ck_assert(cursor.failed);
    ck_assert_uint_eq(yarn_cursor_u8(&cursor), 0);
    ck_assert_uint_eq(yarn_cursor_left(&cursor), 0);
    ck_assert_str_eq(yarn_cursor_text(&cursor), "");
    ck_assert_ptr_null(yarn_cursor_span(&cursor, 1).data);
}
END_TEST

START_TEST(a_skip_that_would_overflow_fails)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(bytes, sizeof bytes));
    yarn_cursor_skip(&cursor, 9);
    ck_assert(!cursor.failed);
    yarn_cursor_skip(&cursor, UINT64_MAX);
    ck_assert(cursor.failed);
}
END_TEST

START_TEST(a_cursor_reads_texts_one_after_the_other)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of("one\0\0two", 8));
    ck_assert_str_eq(yarn_cursor_text(&cursor), "one");
    ck_assert_str_eq(yarn_cursor_text(&cursor), "");
    ck_assert(!cursor.failed);
    ck_assert_str_eq(yarn_cursor_text(&cursor), "");
    ck_assert(cursor.failed);
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    bool good;
    uint64_t value;
} unsigned_numbers[] = {
    {"\x00", 1, true, 0},
    {"\x7f", 1, true, 127},
    {"\xe5\x8e\x26", 3, true, 624485},
    {"\x80\x00", 2, true, 0},
    {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, true, UINT64_MAX},
    {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 10, false, 0},
    {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 11, false, 0},
    {"\x80", 1, false, 0},
    {"\xff", 1, false, 0},
    {"", 0, false, 0},
};

START_TEST(uleb_takes_64_bits_and_no_more)
{
    struct yarn_cursor cursor =
        yarn_cursor_of(yarn_span_of(unsigned_numbers[_i].bytes, unsigned_numbers[_i].size));
    ck_assert_uint_eq(yarn_cursor_uleb(&cursor), unsigned_numbers[_i].value);
    ck_assert_int_eq(cursor.failed, !unsigned_numbers[_i].good);
    if (!cursor.failed)
        ck_assert_uint_eq(cursor.at, unsigned_numbers[_i].size);
}
END_TEST

static const struct {
    const char *bytes;
    size_t size;
    int64_t value;
} signed_numbers[] = {
    {"\x02", 1, 2},
    {"\x7e", 1, -2},
    {"\xff\x00", 2, 127},
    {"\x81\x7f", 2, -127},
    {"\x80\x7f", 2, -128},
    {"\xc0\xbb\x78", 3, -123456},
    {"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f", 10, INT64_MIN},
    {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00", 10, INT64_MAX},
};

START_TEST(sleb_is_what_dwarf_says)
{
    struct yarn_cursor cursor =
        yarn_cursor_of(yarn_span_of(signed_numbers[_i].bytes, signed_numbers[_i].size));
    ck_assert_int_eq(yarn_cursor_sleb(&cursor), signed_numbers[_i].value);
    ck_assert(!cursor.failed);
    cursor = yarn_cursor_of(yarn_span_of(signed_numbers[_i].bytes, signed_numbers[_i].size - 1));
    ck_assert_int_eq(yarn_cursor_sleb(&cursor), 0);
    ck_assert(cursor.failed);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("span");
    TCase *spans = tcase_create("foreign bytes");
    tcase_add_test(spans, a_part_outside_of_a_span_is_empty);
    tcase_add_test(spans, spans_of_the_same_bytes_are_equal);
    tcase_add_test(spans, a_text_without_its_nul_is_none);
    tcase_add_test(spans, a_read_past_the_end_leaves_the_value_alone);
    tcase_add_test(spans, a_cursor_reads_little_endian_from_front_to_back);
    tcase_add_test(spans, a_cursor_that_met_the_end_yields_zeros_for_ever);
    tcase_add_test(spans, a_skip_that_would_overflow_fails);
    tcase_add_test(spans, a_cursor_reads_texts_one_after_the_other);
    tcase_add_loop_test(spans, uleb_takes_64_bits_and_no_more, 0, YARN_COUNT_OF(unsigned_numbers));
    tcase_add_loop_test(spans, sleb_is_what_dwarf_says, 0, YARN_COUNT_OF(signed_numbers));
    suite_add_tcase(suite, spans);
    return run_suite(suite);
}
