/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "output/fold/match.h"
#include "tests/support/suite.h"

static struct yarn_profile before, after;
static struct yarn_match match;

static void set_up(void)
{
    ck_assert_int_eq(yarn_profile_init(&before), 0);
    ck_assert_int_eq(yarn_profile_init(&after), 0);
}

static void tear_down(void)
{
    yarn_match_fini(&match);
    yarn_profile_fini(&before);
    yarn_profile_fini(&after);
}

static uint32_t add(struct yarn_profile *profile, const char *path, const char *name)
{
    uint32_t module, text, function;
    ck_assert_int_eq(yarn_profile_module(profile, yarn_span_of_text(path), &module), 0);
    ck_assert_int_eq(yarn_strings_intern(&profile->strings, yarn_span_of_text(name), &text), 0);
    ck_assert_int_eq(yarn_profile_function(profile, module, text, &function), 0);
    return function;
}

static bool is_one(uint32_t mine, uint32_t theirs)
{
    return match.numbers[0][mine] == match.numbers[1][theirs];
}

static void match_them(void)
{
    ck_assert_int_eq(yarn_match_build(&before, &after, &match), 0);
    for (size_t i = 0; i < before.nr_functions; i++)
        ck_assert_uint_ne(match.functions[match.numbers[0][i]].functions[0], YARN_DUMP_NONE);
    for (size_t i = 0; i < after.nr_functions; i++)
        ck_assert_uint_ne(match.functions[match.numbers[1][i]].functions[1], YARN_DUMP_NONE);
}

START_TEST(name_and_file_name_make_one_function)
{
    uint32_t mine = add(&before, "/build-1/app", "work");
    uint32_t theirs = add(&after, "/build-2/app", "work");
    uint32_t other = add(&after, "/build-2/libx.so", "work");
    match_them();
    ck_assert(is_one(mine, theirs));
    ck_assert(!is_one(mine, other));
    ck_assert_str_eq(match.functions[match.numbers[0][mine]].module, "/build-2/app");
}
END_TEST

START_TEST(a_name_that_each_has_once_is_found_in_another_module)
{
    uint32_t mine = add(&before, "/lib/libx.so.1", "work");
    uint32_t theirs = add(&after, "/lib/libx.so.2", "work");
    match_them();
    ck_assert(is_one(mine, theirs));
}
END_TEST

START_TEST(a_name_that_is_there_twice_is_not_guessed)
{
    uint32_t mine = add(&before, "/lib/libx.so.1", "helper");
    uint32_t first = add(&after, "/lib/liby.so", "helper");
    uint32_t second = add(&after, "/lib/libz.so", "helper");
    match_them();
    ck_assert(!is_one(mine, first));
    ck_assert(!is_one(mine, second));
}
END_TEST

START_TEST(nameless_functions_of_a_module_are_one_together)
{
    uint32_t mine = add(&before, "/app", "app+0x10");
    uint32_t theirs = add(&after, "/app", "app+0x10");
    uint32_t other = add(&after, "/app", "app+0x20");
    before.functions[mine].is_nameless = true;
    after.functions[theirs].is_nameless = true;
    after.functions[other].is_nameless = true;
    match_them();
    ck_assert(is_one(mine, theirs));
    ck_assert(is_one(mine, other));
    ck_assert_str_eq(match.functions[match.numbers[0][mine]].name, "[nameless]");
}
END_TEST

START_TEST(pseudo_functions_stay_what_they_are)
{
    match_them();
    for (uint32_t i = 0; i < YARN_FUNCTION_PSEUDO_COUNT; i++) {
        ck_assert(is_one(i, i));
        ck_assert(match.functions[match.numbers[0][i]].is_pseudo);
    }
}
END_TEST

START_TEST(one_profile_keeps_its_functions_apart)
{
    uint32_t first = add(&after, "/a/app", "work");
    uint32_t second = add(&after, "/b/app", "work");
    ck_assert_int_eq(yarn_match_build(NULL, &after, &match), 0);
    ck_assert_uint_ne(match.numbers[1][first], match.numbers[1][second]);
    ck_assert_uint_eq(match.count, after.nr_functions);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("functions of two profiles");
    TCase *tcase = tcase_create("matched by name");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, name_and_file_name_make_one_function);
    tcase_add_test(tcase, a_name_that_each_has_once_is_found_in_another_module);
    tcase_add_test(tcase, a_name_that_is_there_twice_is_not_guessed);
    tcase_add_test(tcase, nameless_functions_of_a_module_are_one_together);
    tcase_add_test(tcase, pseudo_functions_stay_what_they_are);
    tcase_add_test(tcase, one_profile_keeps_its_functions_apart);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
