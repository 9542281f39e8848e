/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/base/glob.h"
#include "tests/support/suite.h"

static const struct {
    const char *pattern, *text;
    bool matches;
} rows[] = {
    {"", "", true},
    {"", "a", false},
    {"a", "", false},
    {"*", "", true},
    {"*", "anything", true},
    {"python*", "python3.11", true},
    {"python*", "cpython", false},
    {"*thon?.11", "python3.11", true},
    {"a*b*c", "a-b-b-c", true},
    {"a*b*c", "a-b-b-d", false},
    {"**a**", "xxaxx", true},
    {"?", "", false},
    {"??", "ab", true},
    {"[abc]x", "bx", true},
    {"[abc]x", "dx", false},
    {"[!abc]x", "dx", true},
    {"[^abc]x", "ax", false},
    {"[a-f0-9]", "7", true},
    {"[a-f0-9]", "g", false},
    {"[]]", "]", true},
    {"[a-]", "-", true},
    {"[", "[", true},
    {"[ab", "[ab", true},
    {"[ab", "a", false},
    {"\\*", "*", true},
    {"\\*", "a", false},
    {"a\\", "a\\", true},
    {"*.so", "a.so.so", true},
};

START_TEST(each_pattern_matches_what_a_shell_says)
{
    bool matches =
        yarn_glob_matches(yarn_span_of_text(rows[_i].pattern), yarn_span_of_text(rows[_i].text));
    ck_assert_msg(matches == rows[_i].matches, "%s and %s", rows[_i].pattern, rows[_i].text);
}
END_TEST

START_TEST(one_pattern_of_a_list_is_enough)
{
    ck_assert(yarn_glob_list_matches("a, b* ,c", "bash"));
    ck_assert(yarn_glob_list_matches("a,b,c", "c"));
    ck_assert(!yarn_glob_list_matches("a,b,c", "d"));
    ck_assert(!yarn_glob_list_matches("", "d"));
    ck_assert(!yarn_glob_list_matches(",", ""));
    ck_assert(yarn_glob_list_matches(",*", "d"));
}
END_TEST

START_TEST(many_stars_take_no_longer_than_the_square_of_the_text)
{
    char text[4001];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = 0;
    ck_assert(!yarn_glob_list_matches("*a*a*a*a*a*a*a*a*a*a*b", text));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("glob");
    TCase *tcase = tcase_create("patterns");
    tcase_add_loop_test(tcase, each_pattern_matches_what_a_shell_says, 0, YARN_COUNT_OF(rows));
    tcase_add_test(tcase, one_pattern_of_a_list_is_enough);
    tcase_add_test(tcase, many_stars_take_no_longer_than_the_square_of_the_text);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
