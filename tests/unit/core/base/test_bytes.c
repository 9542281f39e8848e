/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/bytes.h"
#include "tests/support/suite.h"

static uint8_t buffer[64];

START_TEST(what_is_written_reads_back)
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(buffer, sizeof buffer);
    yarn_bytes_u8(&bytes, 0xfe);
    yarn_bytes_u16(&bytes, 0x1234);
    yarn_bytes_u32(&bytes, 0x89abcdef);
    yarn_bytes_u64(&bytes, UINT64_C(0x0123456789abcdef));
    yarn_bytes_sized(&bytes, yarn_span_of_text("text"));
    ck_assert(!bytes.full);
    ck_assert_uint_eq(buffer[1], 0x34);
    struct yarn_cursor cursor = yarn_cursor_of(yarn_bytes_span(&bytes));
    ck_assert_uint_eq(yarn_cursor_u8(&cursor), 0xfe);
    ck_assert_uint_eq(yarn_cursor_u16(&cursor), 0x1234);
    ck_assert_uint_eq(yarn_cursor_u32(&cursor), 0x89abcdef);
    ck_assert_uint_eq(yarn_cursor_u64(&cursor), UINT64_C(0x0123456789abcdef));
    struct yarn_span text = yarn_cursor_span(&cursor, yarn_cursor_uleb(&cursor));
    ck_assert(yarn_span_equal(text, yarn_span_of_text("text")));
    ck_assert_uint_eq(yarn_cursor_left(&cursor), 0);
    ck_assert(!cursor.failed);
}
END_TEST

static const uint64_t numbers[] = {
    0, 1, 63, 64, 127, 128, 16383, 16384, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX,
};

START_TEST(varints_of_every_size_read_back)
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(buffer, sizeof buffer);
    yarn_bytes_uleb(&bytes, numbers[_i]);
    struct yarn_cursor cursor = yarn_cursor_of(yarn_bytes_span(&bytes));
    ck_assert_uint_eq(yarn_cursor_uleb(&cursor), numbers[_i]);
    ck_assert_uint_eq(yarn_cursor_left(&cursor), 0);
    ck_assert(!cursor.failed);
}
END_TEST

START_TEST(a_write_that_does_not_fit_is_not_begun)
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(buffer, 5);
    yarn_bytes_u32(&bytes, 1);
    yarn_bytes_u16(&bytes, 2);
    ck_assert(bytes.full);
    ck_assert_uint_eq(bytes.size, 4);
    yarn_bytes_u8(&bytes, 3);
    ck_assert_uint_eq(bytes.size, 4);
    ck_assert_uint_eq(yarn_bytes_room(&bytes), 0);
    yarn_bytes_reset(&bytes);
    yarn_bytes_u8(&bytes, 3);
    ck_assert(!bytes.full);
    ck_assert_uint_eq(bytes.size, 1);
}
END_TEST

START_TEST(a_text_that_does_not_fit_leaves_no_length_behind)
{
    struct yarn_byte_buffer bytes = yarn_bytes_of(buffer, 4);
    yarn_bytes_u8(&bytes, 9);
    yarn_bytes_sized(&bytes, yarn_span_of_text("abc"));
    ck_assert(bytes.full);
    ck_assert_uint_eq(bytes.size, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bytes");
    TCase *tcase = tcase_create("a buffer of fixed size");
    tcase_add_test(tcase, what_is_written_reads_back);
    tcase_add_loop_test(tcase, varints_of_every_size_read_back, 0, YARN_COUNT_OF(numbers));
    tcase_add_test(tcase, a_write_that_does_not_fit_is_not_begun);
    tcase_add_test(tcase, a_text_that_does_not_fit_leaves_no_length_behind);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
