/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "output/analysis/value/name.h"
#include "tests/support/suite.h"

static struct yarn_strings strings;

static void set_up(void)
{
    ck_assert_int_eq(yarn_strings_init(&strings), 0);
}

static void tear_down(void)
{
    yarn_strings_fini(&strings);
}

static const struct {
    const char *name, *want;
} names[] = {
    {"main", "main"},
    {"", ""},
    {"_", "_"},
    {"_start", "_start"},
    {"__libc_start_main", "__libc_start_main"},
    {"_ZN2ns4warmEi", "ns::warm(int)"},
    {"_Z3foov", "foo()"},
    {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
    {"_RNvC7mycrate3foo", "mycrate::foo"},
    {"_D3std5stdio7writelnFZv", "std.stdio.writeln()"},
    {"_Dmain", "_Dmain"},
    {"_Zbroken", "_Zbroken"},
    {"main.main", "main.main"},
    {"$s4main3fooyyF", "$s4main3fooyyF"},
    {"_ZN2ns4warmEi.cold", "ns::warm(int) [clone .cold]"},
};

START_TEST(mangled_names_become_readable_and_others_stay)
{
    uint32_t text;
    ck_assert_int_eq(yarn_name_demangle(&strings, yarn_span_of_text(names[_i].name), &text), 0);
    ck_assert_str_eq(yarn_strings_text(&strings, text), names[_i].want);
}
END_TEST

START_TEST(nameless_functions_have_module_and_start)
{
    uint32_t text;
    ck_assert_int_eq(yarn_name_of_address(&strings, "libc.so.6", 0x1a0, &text), 0);
    ck_assert_str_eq(yarn_strings_text(&strings, text), "libc.so.6+0x1a0");
    ck_assert_int_eq(yarn_name_of_address(&strings, NULL, 0x1a0, &text), 0);
    ck_assert_str_eq(yarn_strings_text(&strings, text), "0x1a0");
    ck_assert_int_eq(yarn_name_of_address(&strings, NULL, 0, &text), 0);
    ck_assert_str_eq(yarn_strings_text(&strings, text), "[unknown]");
}
END_TEST

START_TEST(a_name_too_long_to_be_true_stays_as_it_is)
{
    static char name[5000];
    uint32_t text;
    memset(name, 'S', sizeof name - 1);
    memcpy(name, "_Z", 2);
    ck_assert_int_eq(yarn_name_demangle(&strings, yarn_span_of_text(name), &text), 0);
    ck_assert_str_eq(yarn_strings_text(&strings, text), name);
}
END_TEST

START_TEST(equal_texts_have_one_number)
{
    uint32_t one, other, again;
    ck_assert_int_eq(yarn_strings_intern(&strings, yarn_span_of_text("a"), &one), 0);
    ck_assert_int_eq(yarn_strings_intern(&strings, yarn_span_of_text("b"), &other), 0);
    ck_assert_int_eq(yarn_strings_intern(&strings, yarn_span_of("a\0b", 3), &again), 0);
    ck_assert_uint_ne(one, other);
    ck_assert_uint_eq(one, again);
    for (uint32_t i = 0; i < 20000; i++) {
        ck_assert_int_eq(yarn_strings_intern(&strings, yarn_span_of(&i, sizeof i), &again), 0);
    }
    ck_assert_str_eq(yarn_strings_text(&strings, one), "a");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("name");
    TCase *tcase = tcase_create("names");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, mangled_names_become_readable_and_others_stay, 0,
                        (int)YARN_COUNT_OF(names));
    tcase_add_test(tcase, nameless_functions_have_module_and_start);
    tcase_add_test(tcase, a_name_too_long_to_be_true_stays_as_it_is);
    tcase_add_test(tcase, equal_texts_have_one_number);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
