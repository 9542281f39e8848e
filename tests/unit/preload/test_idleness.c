/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "preload/control/idleness.h"
#include "tests/support/suite.h"

#define MS YARN_NS_PER_MS
#define INTERVAL (100 * MS)

static struct yarn_idleness idleness;

static struct yarn_cpu_bounds exactly(uint64_t cpu_ns)
{
    return (struct yarn_cpu_bounds){cpu_ns, cpu_ns};
}

/* A turn without records, at that time and so much CPU time. */
static uint64_t turn(uint64_t now_ns, uint64_t cpu_ns)
{
    return yarn_idleness_pause_ns(&idleness, exactly(cpu_ns), false, now_ns, INTERVAL);
}

static void set_up(void)
{
    idleness = (struct yarn_idleness){.cpu_ns = 0};
    ck_assert_uint_eq(turn(INTERVAL, 5 * MS), INTERVAL);
}

START_TEST(who_works_has_a_turn_each_interval)
{
    ck_assert_uint_eq(idleness.since_ns, 0);
    ck_assert(yarn_idleness_is_over(&idleness, exactly(6 * MS)));
    ck_assert_uint_eq(turn(2 * INTERVAL, 6 * MS), INTERVAL);
    ck_assert_uint_eq(idleness.since_ns, 0);
}
END_TEST

START_TEST(who_sleeps_has_turns_at_doubling_distances)
{
    ck_assert_uint_eq(turn(10 * INTERVAL, 5 * MS), INTERVAL);
    ck_assert_uint_eq(turn(11 * INTERVAL, 5 * MS), INTERVAL);
    ck_assert_uint_eq(turn(12 * INTERVAL, 5 * MS), 2 * INTERVAL);
    ck_assert_uint_eq(turn(14 * INTERVAL, 5 * MS), 4 * INTERVAL);
    ck_assert(!yarn_idleness_is_over(&idleness, exactly(5 * MS)));
}
END_TEST

START_TEST(records_are_work)
{
    ck_assert_uint_eq(turn(10 * INTERVAL, 5 * MS), INTERVAL);
    ck_assert_uint_eq(turn(12 * INTERVAL, 5 * MS), 2 * INTERVAL);
    ck_assert_uint_eq(
        yarn_idleness_pause_ns(&idleness, exactly(5 * MS), true, 14 * INTERVAL, INTERVAL),
        INTERVAL);
    ck_assert_uint_eq(idleness.since_ns, 0);
}
END_TEST

START_TEST(what_is_not_known_is_no_work)
{
    const struct yarn_cpu_bounds late = {5 * MS, 6 * MS}, early = {5 * MS - MS / 10, 5 * MS};
    yarn_idleness_pause_ns(&idleness, late, true, 10 * INTERVAL, INTERVAL);
    turn(11 * INTERVAL, 5 * MS);
    ck_assert(!yarn_idleness_is_over(&idleness, exactly(6 * MS)));
    ck_assert(!yarn_idleness_is_over(&idleness, early));
    ck_assert(yarn_idleness_is_over(&idleness, exactly(6 * MS + MS / 10)));
    ck_assert_uint_eq(idleness.since_ns, 0);
}
END_TEST

START_TEST(little_work_adds_up)
{
    turn(10 * INTERVAL, 5 * MS);
    for (uint64_t i = 1; i <= 2; i++)
        ck_assert(!yarn_idleness_is_over(&idleness, exactly(5 * MS + i * MS / 50)));
    ck_assert(yarn_idleness_is_over(&idleness, exactly(5 * MS + 3 * MS / 50)));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("idleness");
    TCase *turns = tcase_create("turns");
    tcase_add_checked_fixture(turns, set_up, NULL);
    tcase_add_test(turns, who_works_has_a_turn_each_interval);
    tcase_add_test(turns, who_sleeps_has_turns_at_doubling_distances);
    tcase_add_test(turns, records_are_work);
    tcase_add_test(turns, what_is_not_known_is_no_work);
    tcase_add_test(turns, little_work_adds_up);
    suite_add_tcase(suite, turns);
    return run_suite(suite);
}
