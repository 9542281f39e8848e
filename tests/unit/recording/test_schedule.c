/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "recording/control/schedule.h"
#include "tests/support/suite.h"

#define BEGIN UINT64_C(1000)
#define FAR UINT64_C(1000000)

static struct yarn_schedule schedule;
static struct yarn_options options;

static enum { NOTHING, START, STOP } look(uint64_t now_ns)
{
    if (yarn_schedule_wait_ns(&schedule, now_ns, FAR))
        return NOTHING;
    return schedule.start_at_ns ? START : STOP;
}

static void start_anew(void)
{
    options = (struct yarn_options){.start = YARN_START_ON};
}

START_TEST(nothing_asked_for_is_never_due)
{
    ck_assert(!yarn_schedule_begin(&schedule, &options, BEGIN));
    ck_assert_int_eq(look(UINT64_MAX), NOTHING);
    ck_assert_uint_eq(yarn_schedule_wait_ns(&schedule, BEGIN, FAR), FAR);
}
END_TEST

START_TEST(off_begins_stopped_and_stays_so_whatever_the_delay)
{
    options.start = YARN_START_OFF;
    options.delay_ns = 10;
    ck_assert(yarn_schedule_begin(&schedule, &options, BEGIN));
    ck_assert_int_eq(look(UINT64_MAX), NOTHING);
}
END_TEST

START_TEST(a_delay_begins_stopped_and_starts_in_time)
{
    options.delay_ns = 500;
    ck_assert(yarn_schedule_begin(&schedule, &options, BEGIN));
    ck_assert_uint_eq(yarn_schedule_wait_ns(&schedule, BEGIN + 100, FAR), 400);
    ck_assert_uint_eq(yarn_schedule_wait_ns(&schedule, BEGIN + 100, 7), 7);
    ck_assert_int_eq(look(BEGIN + 499), NOTHING);
    ck_assert_int_eq(look(BEGIN + 500), START);
    ck_assert_uint_eq(yarn_schedule_wait_ns(&schedule, BEGIN + 900, FAR), 0);
}
END_TEST

START_TEST(a_duration_counts_from_the_start)
{
    options.delay_ns = 500;
    options.duration_ns = 200;
    ck_assert(yarn_schedule_begin(&schedule, &options, BEGIN));
    yarn_schedule_started(&schedule, BEGIN + 600);
    ck_assert_int_eq(look(BEGIN + 799), NOTHING);
    ck_assert_int_eq(look(BEGIN + 800), STOP);
    yarn_schedule_stopped(&schedule);
    ck_assert_int_eq(look(UINT64_MAX), NOTHING);
}
END_TEST

START_TEST(a_start_by_hand_takes_the_delay_s_place)
{
    options.delay_ns = 500;
    ck_assert(yarn_schedule_begin(&schedule, &options, BEGIN));
    yarn_schedule_started(&schedule, BEGIN + 1);
    ck_assert_int_eq(look(BEGIN + 900), NOTHING);
}
END_TEST

START_TEST(each_start_has_the_whole_duration)
{
    options.duration_ns = 200;
    ck_assert(!yarn_schedule_begin(&schedule, &options, BEGIN));
    ck_assert_int_eq(look(BEGIN + 200), STOP);
    yarn_schedule_stopped(&schedule);
    yarn_schedule_started(&schedule, BEGIN + 5000);
    ck_assert_int_eq(look(BEGIN + 5199), NOTHING);
    ck_assert_int_eq(look(BEGIN + 5200), STOP);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("schedule");
    TCase *tcase = tcase_create("schedule");
    tcase_add_checked_fixture(tcase, start_anew, NULL);
    tcase_add_test(tcase, nothing_asked_for_is_never_due);
    tcase_add_test(tcase, off_begins_stopped_and_stays_so_whatever_the_delay);
    tcase_add_test(tcase, a_delay_begins_stopped_and_starts_in_time);
    tcase_add_test(tcase, a_duration_counts_from_the_start);
    tcase_add_test(tcase, a_start_by_hand_takes_the_delay_s_place);
    tcase_add_test(tcase, each_start_has_the_whole_duration);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
