/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdio.h>

#include "core/base/pages.h"
#include "tests/support/suite.h"
#include "unwind/symbol/code_names.h"

static struct yarn_code_names names;

static void open_names(void)
{
    yarn_code_names_open(&names);
}

static void close_names(void)
{
    yarn_code_names_close(&names);
}

static void add(uint64_t start, uint64_t size, const char *text)
{
    yarn_code_names_add(&names, start, size, yarn_span_of_text(text), 0);
}

/* NULL wants no name there. */
static void assert_name(uint64_t address, const char *want)
{
    uint32_t number = yarn_code_names_find(&names, address);
    if (!want) {
        ck_assert_uint_eq(number, YARN_CODE_NAME_NONE);
        return;
    }
    ck_assert_uint_ne(number, YARN_CODE_NAME_NONE);
    struct yarn_code_name name = yarn_code_names_at(&names, number);
    ck_assert_msg(yarn_span_equal(name.text, yarn_span_of_text(want)), "%#lx is %.*s, not %s",
                  (unsigned long)address, (int)name.text.size, (const char *)name.text.data, want);
}

START_TEST(a_name_holds_for_its_range_and_not_beyond)
{
    add(0x1000, 0x20, "one");
    assert_name(0xfff, NULL);
    assert_name(0x1000, "one");
    assert_name(0x101f, "one");
    assert_name(0x1020, NULL);
}
END_TEST

START_TEST(the_latest_name_wins_and_older_ones_keep_what_is_left)
{
    add(0x1000, 0x100, "old");
    add(0x1040, 0x10, "new");
    assert_name(0x103f, "old");
    assert_name(0x1040, "new");
    assert_name(0x104f, "new");
    assert_name(0x1050, "old");
    struct yarn_code_name rest = yarn_code_names_at(&names, yarn_code_names_find(&names, 0x1050));
    ck_assert_uint_eq(rest.start, 0x1000);
    ck_assert_uint_eq(rest.end, 0x1100);
}
END_TEST

START_TEST(code_in_the_place_of_other_code_has_another_number)
{
    add(0x1000, 0x100, "old");
    uint32_t before = yarn_code_names_find(&names, 0x1000);
    uint64_t generation = names.generation;
    add(0x1000, 0x100, "new");
    ck_assert_uint_ne(yarn_code_names_find(&names, 0x1000), before);
    ck_assert_uint_ne(names.generation, generation);
}
END_TEST

START_TEST(what_is_reported_twice_changes_nothing)
{
    add(0x1000, 0x100, "same");
    uint32_t before = yarn_code_names_find(&names, 0x1000);
    uint64_t generation = names.generation;
    add(0x1000, 0x100, "same");
    ck_assert_uint_eq(yarn_code_names_find(&names, 0x1000), before);
    ck_assert_uint_eq(names.generation, generation);
}
END_TEST

START_TEST(what_is_empty_or_runs_over_the_end_is_passed_over)
{
    add(0x1000, 0, "no size");
    add(0x1000, 8, "");
    add(UINT64_MAX - 4, 8, "over the end");
    ck_assert_uint_eq(names.generation, 0);
}
END_TEST

START_TEST(long_names_are_cut)
{
    char text[YARN_CODE_NAME_BYTES + 100];
    memset(text, 'a', sizeof text);
    yarn_code_names_add(&names, 0x1000, 8, yarn_span_of(text, sizeof text), 0);
    uint32_t number = yarn_code_names_find(&names, 0x1000);
    ck_assert_uint_eq(yarn_code_names_at(&names, number).text.size, YARN_CODE_NAME_BYTES);
}
END_TEST

enum { PLACES = 4096, PLACE_BYTES = 16 };

/* Against an array that says for each place which name was the last there. */
START_TEST(any_order_of_overlapping_names_reads_as_the_last_one_of_each_place)
{
    static uint32_t want[PLACES];
    uint64_t state = 77;
    memset(want, 0xff, sizeof want);
    for (uint32_t i = 0; i < 20000; i++) {
        char text[16];
        state = yarn_hash_u64(state + i);
        uint32_t start = (uint32_t)(state % PLACES);
        uint32_t count = (uint32_t)(state >> 40) % 8 + 1;
        if (state >> 60 == 0)
            count *= 50;
        count = start + count > PLACES ? PLACES - start : count;
        (void)snprintf(text, sizeof text, "f%u", i);
        add(0x10000 + start * PLACE_BYTES, (uint64_t)count * PLACE_BYTES, text);
        for (uint32_t place = start; place < start + count; place++)
            want[place] = i;
    }
    for (uint32_t place = 0; place < PLACES; place++) {
        char text[16];
        (void)snprintf(text, sizeof text, "f%u", want[place]);
        assert_name(0x10000 + place * PLACE_BYTES + 7, want[place] == UINT32_MAX ? NULL : text);
    }
    ck_assert_uint_eq(names.nr_dropped, 0);
}
END_TEST

START_TEST(names_of_code_that_is_no_more_make_room)
{
    char text[1000];
    memset(text, 'x', sizeof text);
    add(0x900000, 0x10, "survivor");
    for (uint32_t i = 0; i < 30000; i++) {
        (void)snprintf(text, 9, "%08u", i);
        text[8] = '_';
        yarn_code_names_add(&names, 0x1000 + i % 100 * 16, 16, yarn_span_of(text, sizeof text), 0);
    }
    ck_assert_uint_eq(names.nr_dropped, 0);
    assert_name(0x900008, "survivor");
    uint32_t number = yarn_code_names_find(&names, 0x1000 + 99 * 16);
    ck_assert_uint_ne(number, YARN_CODE_NAME_NONE);
    ck_assert_mem_eq(yarn_code_names_at(&names, number).text.data, "00029999_", 9);
}
END_TEST

START_TEST(memory_is_bounded_and_what_is_dropped_is_counted)
{
    for (uint32_t i = 0; i < 400000; i++) {
        char text[64];
        int size = snprintf(text, sizeof text, "JS:*function_number_%u script.js:%u", i, i);
        yarn_code_names_add(&names, 0x10000 + i * 64, 64, yarn_span_of(text, (size_t)size), 0);
    }
    ck_assert_uint_gt(names.nr_dropped, 100000);
    ck_assert_uint_lt(names.nr_dropped, 350000);
    ck_assert_uint_lt(yarn_pages_total(), YARN_MIB(16));
    assert_name(0x10000, "JS:*function_number_0 script.js:0");
    close_names();
    ck_assert_uint_eq(yarn_pages_total(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("code names");
    TCase *tcase = tcase_create("names of generated code");
    tcase_add_checked_fixture(tcase, open_names, close_names);
    tcase_add_test(tcase, a_name_holds_for_its_range_and_not_beyond);
    tcase_add_test(tcase, the_latest_name_wins_and_older_ones_keep_what_is_left);
    tcase_add_test(tcase, code_in_the_place_of_other_code_has_another_number);
    tcase_add_test(tcase, what_is_reported_twice_changes_nothing);
    tcase_add_test(tcase, what_is_empty_or_runs_over_the_end_is_passed_over);
    tcase_add_test(tcase, long_names_are_cut);
    tcase_add_test(tcase, any_order_of_overlapping_names_reads_as_the_last_one_of_each_place);
    tcase_add_test(tcase, names_of_code_that_is_no_more_make_room);
    tcase_add_test(tcase, memory_is_bounded_and_what_is_dropped_is_counted);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
