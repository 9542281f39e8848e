/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/callgraph.h"
#include "core/base/text.h"
#include "tests/support/suite.h"

START_TEST(text_grows_piece_by_piece)
{
    char buffer[128];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add(&text, "a");
    yarn_text_add_sized(&text, "bcd", 2);
    yarn_text_add_u64(&text, 0);
    yarn_text_add_u64(&text, UINT64_MAX);
    yarn_text_add(&text, " ");
    yarn_text_add_i64(&text, INT64_MIN);
    yarn_text_add_i64(&text, 7);
    yarn_text_add(&text, " ");
    yarn_text_add_hex(&text, UINT64_C(0xdeadbeef01));
    ck_assert_str_eq(buffer, "abc018446744073709551615 -92233720368547758087 deadbeef01");
    ck_assert_uint_eq(text.size, strlen(buffer));
    ck_assert(!text.cut);
}
END_TEST

START_TEST(a_format_takes_texts_and_numbers)
{
    char buffer[64];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    yarn_text_add_format(&text, "%s is %d of %lu", "a", -5, UINT64_MAX);
    yarn_text_add_format(&text, "%s", "");
    yarn_text_add_format(&text, "!");
    ck_assert_str_eq(buffer, "a is -5 of 18446744073709551615!");
}
END_TEST

START_TEST(text_is_cut_at_the_end_and_says_so)
{
    char buffer[4] = "xyz";
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    ck_assert_str_eq(buffer, "");
    yarn_text_add(&text, "abc");
    ck_assert(!text.cut);
    yarn_text_add(&text, "d");
    ck_assert(text.cut);
    ck_assert_str_eq(buffer, "abc");
    ck_assert_uint_eq(text.size, 3);
    text = yarn_text_of(buffer, 1);
    yarn_text_add_u64(&text, 5);
    ck_assert(text.cut);
    ck_assert_str_eq(buffer, "");
}
END_TEST

typedef int parse_fn(const char *text, size_t size, uint64_t *ret_value);

static const struct {
    parse_fn *parse;
    const char *text;
    int err;
    uint64_t value;
} numbers[] = {
    {yarn_parse_u64, "0", 0, 0},
    {yarn_parse_u64, "18446744073709551615", 0, UINT64_MAX},
    {yarn_parse_u64, "18446744073709551616", -ERANGE, 0},
    {yarn_parse_u64, "", -EINVAL, 0},
    {yarn_parse_u64, "-1", -EINVAL, 0},
    {yarn_parse_u64, "+1", -EINVAL, 0},
    {yarn_parse_u64, " 1", -EINVAL, 0},
    {yarn_parse_u64, "1 ", -EINVAL, 0},
    {yarn_parse_u64, "0x1", -EINVAL, 0},
    {yarn_parse_number, "12", 0, 12},
    {yarn_parse_number, "0x1F", 0, 31},
    {yarn_parse_number, "0Xff", 0, 255},
    {yarn_parse_number, "0xffffffffffffffff", 0, UINT64_MAX},
    {yarn_parse_number, "0x10000000000000000", -ERANGE, 0},
    {yarn_parse_number, "0x", -EINVAL, 0},
    {yarn_parse_number, "0xg", -EINVAL, 0},
    {yarn_parse_bytes, "7", 0, 7},
    {yarn_parse_bytes, "7B", 0, 7},
    {yarn_parse_bytes, "4k", 0, 4096},
    {yarn_parse_bytes, "4KiB", 0, 4096},
    {yarn_parse_bytes, "1.5K", 0, 1536},
    {yarn_parse_bytes, "0.5M", 0, 512 << 10},
    {yarn_parse_bytes, "1.25G", 0, 1280 << 20},
    {yarn_parse_bytes, "16M", 0, 16 << 20},
    {yarn_parse_bytes, "17179869184G", -ERANGE, 0},
    {yarn_parse_bytes, "4T", -EINVAL, 0},
    {yarn_parse_bytes, "1.5", -EINVAL, 0},
    {yarn_parse_bytes, "K", -EINVAL, 0},
    {yarn_parse_bytes, ".5K", -EINVAL, 0},
    {yarn_parse_bytes, "1.K", -EINVAL, 0},
    {yarn_parse_bytes, "4K ", -EINVAL, 0},
    {yarn_parse_duration, "2", 0, 2000000000},
    {yarn_parse_duration, "100ms", 0, 100000000},
    {yarn_parse_duration, "0.1s", 0, 100000000},
    {yarn_parse_duration, "0.123456789s", 0, 123456789},
    {yarn_parse_duration, "1.5us", 0, 1500},
    {yarn_parse_duration, "5ns", 0, 5},
    {yarn_parse_duration, "2m", 0, 120 * YARN_NS_PER_SECOND},
    {yarn_parse_duration, "2min", 0, 120 * YARN_NS_PER_SECOND},
    {yarn_parse_duration, "1h", 0, 3600 * YARN_NS_PER_SECOND},
    {yarn_parse_duration, "18446744073.709551615s", 0, UINT64_MAX},
    {yarn_parse_duration, "18446744073.709551616s", -ERANGE, 0},
    {yarn_parse_duration, "18446744074s", -ERANGE, 0},
    {yarn_parse_duration, "1.5ns", -EINVAL, 0},
    {yarn_parse_duration, "1d", -EINVAL, 0},
    {yarn_parse_duration, "ms", -EINVAL, 0},
    {yarn_parse_duration_ms, "1000", 0, YARN_NS_PER_SECOND},
    {yarn_parse_duration_ms, "0.5", 0, 500000},
    {yarn_parse_duration_ms, "2s", 0, 2 * YARN_NS_PER_SECOND},
    {yarn_parse_count, "999", 0, 999},
    {yarn_parse_count, "4k", 0, 4000},
    {yarn_parse_count, "2.5M", 0, 2500000},
    {yarn_parse_count, "1G", 0, 1000000000},
    {yarn_parse_count, "4KiB", -EINVAL, 0},
};

START_TEST(a_number_is_read_whole_or_not_at_all)
{
    uint64_t value = 0;
    const char *text = numbers[_i].text;
    ck_assert_int_eq(numbers[_i].parse(text, strlen(text), &value), numbers[_i].err);
    ck_assert_uint_eq(value, numbers[_i].value);
}
END_TEST

START_TEST(a_number_ends_where_its_size_says)
{
    uint64_t value = 0;
    ck_assert_int_eq(yarn_parse_u64("123", 2, &value), 0);
    ck_assert_uint_eq(value, 12);
}
END_TEST

static const struct {
    const char *text;
    struct yarn_callgraph callgraph;
} callgraphs[] = {
    {"auto", {YARN_CALLGRAPH_AUTO, 32768}},
    {"fp", {YARN_CALLGRAPH_FP, 0}},
    {"dwarf:32768", {YARN_CALLGRAPH_DWARF, 32768}},
    {"dwarf:65528", {YARN_CALLGRAPH_DWARF, 65528}},
    {"lbr", {YARN_CALLGRAPH_LBR, 0}},
    {"none", {YARN_CALLGRAPH_NONE, 0}},
};

START_TEST(a_way_to_record_stacks_reads_back)
{
    char buffer[32];
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);
    struct yarn_callgraph callgraph;
    struct yarn_parse_error error;
    const char *words = callgraphs[_i].text;
    ck_assert_int_eq(yarn_callgraph_parse(words, strlen(words), &callgraph, &error), 0);
    ck_assert_int_eq(callgraph.kind, callgraphs[_i].callgraph.kind);
    ck_assert_uint_eq(callgraph.stack_bytes, callgraphs[_i].callgraph.stack_bytes);
    yarn_callgraph_describe(&callgraph, &text);
    ck_assert_str_eq(buffer, words);
}
END_TEST

static const struct {
    const char *text;
    size_t at;
} no_callgraphs[] = {
    {"", 0},
    {"dwarf:", 6},
    {"dwarf:x", 6},
    {"dwarf:65535", 6},
    {"dwarf:1001", 6},
    {"dwarf:8", 6},
    {"dwarf,8192", 0},
    {"FP", 0},
    {"dwarf:99999999999999999999", 6},
};

START_TEST(a_bad_way_to_record_stacks_is_reported_with_its_position)
{
    struct yarn_callgraph callgraph;
    struct yarn_parse_error error;
    const char *words = no_callgraphs[_i].text;
    ck_assert_int_eq(yarn_callgraph_parse(words, strlen(words), &callgraph, &error), -EINVAL);
    ck_assert_uint_eq(error.at, no_callgraphs[_i].at);
    ck_assert_uint_eq(error.at + error.size, strlen(words));
}
END_TEST

static const struct {
    const char *text;
    size_t digits;
    uint64_t value;
} hex_fronts[] = {
    {"7faa627c5b80 100 JS:^fib", 12, 0x7faa627c5b80},
    {"ABCdef", 6, 0xabcdef},
    {"0 ", 1, 0},
    {"ffffffffffffffff", 16, UINT64_MAX},
    {"00000000000000001", 17, 1},
    {"10000000000000000", 0, 77},
    {"", 0, 77},
    {" 1", 0, 77},
    {"g", 0, 77},
};

START_TEST(hexadecimal_digits_at_the_front_are_read_up_to_what_is_none)
{
    uint64_t value = 77;
    const char *text = hex_fronts[_i].text;
    ck_assert_uint_eq(yarn_parse_hex_front(text, strlen(text), &value), hex_fronts[_i].digits);
    ck_assert_uint_eq(value, hex_fronts[_i].value);
}
END_TEST

START_TEST(the_base_of_a_path_follows_its_last_slash)
{
    ck_assert_str_eq(yarn_path_base("/usr/lib/libc.so.6"), "libc.so.6");
    ck_assert_str_eq(yarn_path_base("[vdso]"), "[vdso]");
    ck_assert_str_eq(yarn_path_base("/tmp/"), "/tmp/");
    ck_assert_str_eq(yarn_path_base(""), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("text");
    TCase *tcase = tcase_create("text without stdio");
    tcase_add_test(tcase, text_grows_piece_by_piece);
    tcase_add_test(tcase, a_format_takes_texts_and_numbers);
    tcase_add_test(tcase, text_is_cut_at_the_end_and_says_so);
    tcase_add_loop_test(tcase, a_number_is_read_whole_or_not_at_all, 0, YARN_COUNT_OF(numbers));
    tcase_add_test(tcase, a_number_ends_where_its_size_says);
    tcase_add_test(tcase, the_base_of_a_path_follows_its_last_slash);
    tcase_add_loop_test(tcase, hexadecimal_digits_at_the_front_are_read_up_to_what_is_none, 0,
                        YARN_COUNT_OF(hex_fronts));
    tcase_add_loop_test(tcase, a_way_to_record_stacks_reads_back, 0, YARN_COUNT_OF(callgraphs));
    tcase_add_loop_test(tcase, a_bad_way_to_record_stacks_is_reported_with_its_position, 0,
                        YARN_COUNT_OF(no_callgraphs));
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
