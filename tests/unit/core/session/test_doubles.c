/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/session/doubles.h"
#include "tests/support/suite.h"

/* Records of thread TID, whose events INHERITED and OWN are one event of the list. */
enum { TID = 100, PARENT = 99, INHERITED = 7, OWN = 8, NUMBER = 0, CPU = 1, THIRD = 9 };

static struct yarn_session_doubles doubles;

static bool goes_on(enum yarn_record_type type, uint64_t id, uint64_t time_ns)
{
    const struct yarn_typed_record record = {
        .type = type, .perf = {.tid = TID, .cpu = CPU, .id = id, .time = time_ns}};
    return !yarn_session_doubles_has(&doubles, &record, NUMBER, false);
}

static bool sample_goes_on(uint64_t id, uint64_t time_ns)
{
    return goes_on(YARN_RECORD_SAMPLE, id, time_ns);
}

static void set_up(void)
{
    ck_assert_int_eq(yarn_session_doubles_open(&doubles), 0);
}

static void tear_down(void)
{
    yarn_session_doubles_close(&doubles);
}

START_TEST(samples_of_the_event_that_was_first_go_on)
{
    ck_assert(sample_goes_on(INHERITED, 10));
    ck_assert(!sample_goes_on(OWN, 11));
    ck_assert(sample_goes_on(INHERITED, 20));
    ck_assert(!sample_goes_on(OWN, 21));
}
END_TEST

static bool record_goes_on(uint64_t id, uint64_t time_ns)
{
    const struct yarn_typed_record record = {
        .type = YARN_RECORD_SAMPLE, .perf = {.tid = TID, .cpu = CPU, .id = id, .time = time_ns}};
    return !yarn_session_doubles_has(&doubles, &record, NUMBER, true);
}

START_TEST(of_two_at_one_time_one_goes_on_whatever_their_ids)
{
    ck_assert(record_goes_on(INHERITED, 10));
    ck_assert(!record_goes_on(INHERITED, 10));
    ck_assert(record_goes_on(OWN, 20));
    ck_assert(!record_goes_on(OWN, 20));
    ck_assert(!record_goes_on(OWN, 20));
    ck_assert(record_goes_on(OWN, 30));
    ck_assert(record_goes_on(INHERITED, 40));
}
END_TEST

START_TEST(where_the_first_falls_silent_the_other_goes_on)
{
    ck_assert(sample_goes_on(INHERITED, 10));
    for (uint64_t i = 0; i < 4; i++)
        ck_assert(!sample_goes_on(OWN, 11 + i));
    ck_assert(sample_goes_on(OWN, 20));
    ck_assert(sample_goes_on(OWN, 21));
    ck_assert(!sample_goes_on(INHERITED, 22));
    ck_assert(sample_goes_on(OWN, 23));
    ck_assert(!sample_goes_on(INHERITED, 24));
}
END_TEST

START_TEST(an_end_is_reported_once_and_the_number_may_come_again)
{
    ck_assert(sample_goes_on(INHERITED, 10));
    ck_assert(goes_on(YARN_RECORD_EXIT, INHERITED, 20));
    ck_assert(!goes_on(YARN_RECORD_EXIT, OWN, 21));
    ck_assert(sample_goes_on(THIRD, 30));
    ck_assert(!sample_goes_on(OWN, 31));
}
END_TEST

START_TEST(a_start_makes_a_new_thread_of_a_number)
{
    const struct yarn_typed_record start = {.type = YARN_RECORD_FORK,
                                            .perf = {.tid = PARENT, .cpu = CPU, .id = INHERITED},
                                            .task = {.tid = TID}};
    ck_assert(sample_goes_on(INHERITED, 10));
    ck_assert(!yarn_session_doubles_has(&doubles, &start, NUMBER, false));
    ck_assert(sample_goes_on(THIRD, 20));
    ck_assert(!sample_goes_on(INHERITED, 21));
}
END_TEST

START_TEST(what_was_lost_is_counted_whoever_wrote_it)
{
    ck_assert(goes_on(YARN_RECORD_LOST, INHERITED, 10));
    ck_assert(goes_on(YARN_RECORD_LOST, OWN, 11));
    ck_assert(sample_goes_on(OWN, 20));
    ck_assert(goes_on(YARN_RECORD_LOST, INHERITED, 21));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("doubles");
    TCase *tcase = tcase_create("a thread with two events of a kind");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, samples_of_the_event_that_was_first_go_on);
    tcase_add_test(tcase, of_two_at_one_time_one_goes_on_whatever_their_ids);
    tcase_add_test(tcase, where_the_first_falls_silent_the_other_goes_on);
    tcase_add_test(tcase, an_end_is_reported_once_and_the_number_may_come_again);
    tcase_add_test(tcase, a_start_makes_a_new_thread_of_a_number);
    tcase_add_test(tcase, what_was_lost_is_counted_whoever_wrote_it);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
