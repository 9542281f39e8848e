/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "output/yarnprof/outside/cpu_clock.h"
#include "tests/support/suite.h"

enum { PID = 70, TID = 71, OTHER = 72 };

static struct yarn_cpu_clock clock;

static void set_up(void)
{
    clock = (struct yarn_cpu_clock){0};
    yarn_cpu_clock_enter(&clock, 1, PID, TID, 100);
}

static void tear_down(void)
{
}

static void assert_slice(struct yarn_cpu_slice slice, uint64_t ns)
{
    ck_assert_uint_eq(slice.ns, ns);
    if (ns)
        ck_assert_uint_eq(slice.pid, PID);
}

START_TEST(from_coming_to_leaving_is_one_slice)
{
    assert_slice(yarn_cpu_clock_leave(&clock, 1, TID, 150), 50);
    assert_slice(yarn_cpu_clock_leave(&clock, 1, TID, 160), 0);
}
END_TEST

START_TEST(what_is_divided_adds_up)
{
    assert_slice(yarn_cpu_clock_divide(&clock, 1, 130), 30);
    assert_slice(yarn_cpu_clock_divide(&clock, 1, 120), 0); /* it is that far already */
    assert_slice(yarn_cpu_clock_leave(&clock, 1, TID, 150), 20);
}
END_TEST

START_TEST(who_is_there_already_does_not_come_again)
{
    yarn_cpu_clock_enter(&clock, 1, PID, TID, 140);
    assert_slice(yarn_cpu_clock_leave(&clock, 1, TID, 150), 50);
}
END_TEST

START_TEST(another_on_the_core_or_another_core_is_no_slice)
{
    assert_slice(yarn_cpu_clock_leave(&clock, 1, OTHER, 150), 0);
    assert_slice(yarn_cpu_clock_leave(&clock, 0, TID, 150), 0);
    assert_slice(yarn_cpu_clock_leave(&clock, YARN_CPU_CLOCK_CPUS, TID, 150), 0);
    assert_slice(yarn_cpu_clock_leave(&clock, 1, TID, 150), 50);
}
END_TEST

START_TEST(of_a_core_whose_records_are_missing_nothing_is_known)
{
    yarn_cpu_clock_lose(&clock, 1);
    assert_slice(yarn_cpu_clock_divide(&clock, 1, 150), 0);
    assert_slice(yarn_cpu_clock_leave(&clock, 1, TID, 150), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cpu_clock");
    TCase *slices = tcase_create("slices");
    tcase_add_checked_fixture(slices, set_up, tear_down);
    tcase_add_test(slices, from_coming_to_leaving_is_one_slice);
    tcase_add_test(slices, what_is_divided_adds_up);
    tcase_add_test(slices, who_is_there_already_does_not_come_again);
    tcase_add_test(slices, another_on_the_core_or_another_core_is_no_slice);
    tcase_add_test(slices, of_a_core_whose_records_are_missing_nothing_is_known);
    suite_add_tcase(suite, slices);
    return run_suite(suite);
}
