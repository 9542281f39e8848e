/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "tests/support/suite.h"
#include "unwind/coverage.h"

enum { TID = 42 };

static struct yarn_coverage coverage;

static void empty(void)
{
    coverage = (struct yarn_coverage){0};
}

START_TEST(the_last_walk_that_came_so_high_is_told)
{
    yarn_coverage_add(&coverage, TID, 0x9000, 1);
    yarn_coverage_add(&coverage, TID, 0x5000, 2);
    yarn_coverage_add(&coverage, TID, 0x7000, 3);
    yarn_coverage_add(&coverage, TID, 0x3000, 4);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x3000), 4);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x3001), 3);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x7001), 1);
}
END_TEST

START_TEST(before_the_first_walk_of_a_thread_nothing_is_known)
{
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x3000), UINT32_MAX);
    yarn_coverage_add(&coverage, TID, 0x5000, 10);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x9000), 9);
}
END_TEST

START_TEST(a_thread_that_displaced_another_hides_what_was_known)
{
    yarn_coverage_add(&coverage, TID, 0x5000, 1);
    yarn_coverage_add(&coverage, TID + YARN_COVERAGE_THREADS, 0x5000, 2);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x3000), UINT32_MAX);
    yarn_coverage_add(&coverage, TID, 0x5000, 7);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x9000), 6);
}
END_TEST

/* Never an earlier walk than is true: that would call a frame alive that has ended. */
START_TEST(more_heights_than_fit_are_answered_for_the_careful_side)
{
    enum { HEIGHTS = 3 * YARN_COVERAGE_HEIGHTS };
    for (uint32_t i = 1; i <= HEIGHTS; i++)
        yarn_coverage_add(&coverage, TID, 0x9000 - 16 * i, i);
    for (uint32_t i = 1; i <= HEIGHTS; i++)
        ck_assert_uint_ge(yarn_coverage_last(&coverage, TID, 0x9000 - 16 * i), i);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x9000 - 16 * HEIGHTS), HEIGHTS);
    ck_assert_uint_eq(yarn_coverage_last(&coverage, TID, 0x9000), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coverage");
    TCase *tests = tcase_create("coverage");
    tcase_add_checked_fixture(tests, empty, NULL);
    tcase_add_test(tests, the_last_walk_that_came_so_high_is_told);
    tcase_add_test(tests, before_the_first_walk_of_a_thread_nothing_is_known);
    tcase_add_test(tests, a_thread_that_displaced_another_hides_what_was_known);
    tcase_add_test(tests, more_heights_than_fit_are_answered_for_the_careful_side);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
