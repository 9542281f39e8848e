/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/waits/waits.h"
#include "tests/support/suite.h"

#define MS YARN_NS_PER_MS
#define PERIOD (10 * MS)

enum { THREAD = 7, OTHER = 8, CPU = 1 };

static struct yarn_waits waits;
static uint64_t written_ns, last_time_ns;
static unsigned nr_written, nr_released;

static void on_write(void *self, const struct yarn_wait *wait, uint64_t weight_ns, uint64_t time_ns)
{
    (void)self;
    (void)wait;
    written_ns += weight_ns;
    last_time_ns = time_ns;
    nr_written++;
}

static void on_release(void *self, struct yarn_wait *wait)
{
    (void)self;
    (void)wait;
    nr_released++;
}

static void set_up(void)
{
    const struct yarn_waits_listener listener = {.write = on_write, .release = on_release};
    ck_assert_int_eq(yarn_waits_open(&waits, PERIOD, &listener), 0);
    yarn_waits_start(&waits, 0);
    written_ns = nr_written = nr_released = 0;
}

static void tear_down(void)
{
    yarn_waits_close(&waits);
}

static struct yarn_wait *next_of(uint32_t tid)
{
    struct yarn_wait *wait = NULL;
    while ((wait = yarn_waits_next(&waits, wait)))
        if (wait->tid == tid)
            return wait;
    return NULL;
}

/* A round at that time, which looks at the thread alone. */
static bool look(uint32_t tid, uint64_t from_ns, uint64_t until_ns)
{
    const struct yarn_wait_place place = {.stack = tid};
    yarn_waits_begin_round(&waits, from_ns);
    struct yarn_wait *wait = next_of(tid);
    if (wait)
        yarn_waits_add_look(&waits, wait, from_ns, until_ns, &place);
    yarn_waits_end_round(&waits, NULL, until_ns);
    return wait;
}

START_TEST(a_long_wait_is_exact)
{
    yarn_waits_on_out(&waits, THREAD, 3 * MS, false);
    ck_assert(look(THREAD, 10 * MS, 10 * MS + 5));
    yarn_waits_on_in(&waits, THREAD, 503 * MS, CPU);
    ck_assert_uint_eq(written_ns, 500 * MS);
}
END_TEST

START_TEST(a_short_wait_stands_for_the_time_since_the_round_before)
{
    ck_assert(!look(THREAD, 4 * MS, 4 * MS));
    yarn_waits_on_out(&waits, THREAD, 11 * MS, false);
    ck_assert(look(THREAD, 12 * MS, 12 * MS + 5));
    yarn_waits_on_in(&waits, THREAD, 13 * MS, CPU);
    ck_assert_uint_eq(written_ns, 8 * MS);
    ck_assert_uint_eq(nr_written, 1);
}
END_TEST

START_TEST(rounds_that_nobody_needed_are_in_no_weight)
{
    ck_assert(!look(THREAD, 4 * MS, 4 * MS));
    yarn_waits_skip(&waits, 1000 * MS);
    ck_assert_uint_le(waits.due_ns, 1000 * MS + 2 * PERIOD);
    yarn_waits_on_out(&waits, THREAD, 1001 * MS, false);
    ck_assert(look(THREAD, 1004 * MS, 1004 * MS + 5));
    yarn_waits_on_in(&waits, THREAD, 1005 * MS, CPU);
    ck_assert_uint_eq(written_ns, 4 * MS);
}
END_TEST

START_TEST(a_look_beside_a_switch_does_not_count)
{
    yarn_waits_on_out(&waits, THREAD, 3 * MS, false);
    ck_assert(look(THREAD, 10 * MS, 12 * MS));
    yarn_waits_on_in(&waits, THREAD, 11 * MS, CPU);
    yarn_waits_on_out(&waits, THREAD, 11 * MS + 1, false);
    yarn_waits_update(&waits, 100 * MS);
    ck_assert_uint_eq(nr_written, 0);
    ck_assert_uint_eq(waits.nr_void, 1);
    /* The wait that follows is still to be seen. */
    ck_assert(look(THREAD, 110 * MS, 110 * MS + 5));
}
END_TEST

START_TEST(what_a_wait_stood_for_that_was_awake_is_added_to_the_next_one)
{
    yarn_waits_on_out(&waits, THREAD, 8 * MS, false);
    yarn_waits_begin_round(&waits, 10 * MS);
    yarn_waits_miss(&waits, next_of(THREAD), 10 * MS);
    yarn_waits_end_round(&waits, NULL, 10 * MS);
    yarn_waits_on_in(&waits, THREAD, 11 * MS, CPU);
    yarn_waits_on_out(&waits, THREAD, 12 * MS, false);
    ck_assert(look(THREAD, 15 * MS, 15 * MS + 5));
    yarn_waits_on_in(&waits, THREAD, 16 * MS, CPU);
    ck_assert_uint_eq(written_ns, 10 * MS + 5 * MS);
    /* A thread that ran was in no wait. */
    yarn_waits_begin_round(&waits, 17 * MS);
    yarn_waits_miss(&waits, next_of(THREAD), 17 * MS);
    yarn_waits_end_round(&waits, NULL, 17 * MS);
    yarn_waits_on_out(&waits, THREAD, 18 * MS, false);
    ck_assert(look(THREAD, 19 * MS, 19 * MS + 5));
    yarn_waits_on_in(&waits, THREAD, 20 * MS, CPU);
    ck_assert_uint_eq(written_ns, 17 * MS);
}
END_TEST

START_TEST(a_look_may_be_older_than_the_record_of_its_wait)
{
    yarn_waits_on_in(&waits, THREAD, MS, CPU);
    ck_assert(look(THREAD, 10 * MS, 10 * MS + 5));
    yarn_waits_on_out(&waits, THREAD, 9 * MS, false);
    yarn_waits_on_in(&waits, THREAD, 29 * MS, CPU);
    ck_assert_uint_eq(written_ns, 20 * MS);
}
END_TEST

START_TEST(a_look_at_a_thread_that_was_preempted_does_not_count)
{
    yarn_waits_on_in(&waits, THREAD, MS, CPU);
    ck_assert(look(THREAD, 10 * MS, 10 * MS + 5));
    yarn_waits_on_out(&waits, THREAD, 9 * MS, true);
    yarn_waits_update(&waits, 20 * MS);
    yarn_waits_on_in(&waits, THREAD, 29 * MS, CPU);
    ck_assert_uint_eq(nr_written, 0);
}
END_TEST

START_TEST(a_wait_is_written_at_each_doubling)
{
    yarn_waits_on_out(&waits, THREAD, 0, false);
    ck_assert(look(THREAD, 10 * MS, 10 * MS + 5));
    for (uint64_t now_ns = 20 * MS; now_ns <= 10000 * MS; now_ns += MS) {
        yarn_waits_update(&waits, now_ns);
        ck_assert_uint_ge(2 * written_ns, now_ns);
        ck_assert_uint_le(written_ns, now_ns);
    }
    ck_assert_uint_le(nr_written, 12);
    yarn_waits_stop(&waits, 10001 * MS);
    ck_assert_uint_eq(written_ns, 10001 * MS);
}
END_TEST

START_TEST(a_thread_is_looked_at_once_a_wait)
{
    yarn_waits_on_out(&waits, THREAD, MS, false);
    ck_assert(look(THREAD, 10 * MS, 10 * MS + 5));
    yarn_waits_update(&waits, 15 * MS);
    ck_assert(!look(THREAD, 20 * MS, 20 * MS + 5));
    ck_assert_uint_eq(waits.listed, UINT32_MAX); /* and costs nothing */
    yarn_waits_on_in(&waits, THREAD, 30 * MS, CPU);
    yarn_waits_on_out(&waits, THREAD, 31 * MS, false);
    ck_assert(look(THREAD, 40 * MS, 40 * MS + 5));
}
END_TEST

START_TEST(a_thread_that_only_runs_is_not_looked_at_for_ever)
{
    unsigned nr_looks = 0;
    yarn_waits_on_in(&waits, THREAD, MS, CPU);
    for (uint64_t i = 1; i <= 1000; i++) {
        yarn_waits_begin_round(&waits, i * PERIOD);
        nr_looks += next_of(THREAD) != NULL;
        yarn_waits_end_round(&waits, NULL, i * PERIOD);
    }
    ck_assert_uint_le(nr_looks, 64);
}
END_TEST

START_TEST(waits_that_began_before_the_recording_count_from_its_start)
{
    yarn_waits_stop(&waits, 0);
    yarn_waits_start(&waits, 100 * MS);
    yarn_waits_add(&waits, THREAD, 100 * MS);
    ck_assert(look(THREAD, 110 * MS, 110 * MS + 5));
    yarn_waits_on_in(&waits, THREAD, 400 * MS, CPU);
    ck_assert_uint_eq(written_ns, 300 * MS);
}
END_TEST

START_TEST(after_a_loss_waits_grow_no_more)
{
    yarn_waits_on_out(&waits, THREAD, 0, false);
    ck_assert(look(THREAD, 10 * MS, 10 * MS + 5));
    yarn_waits_update(&waits, 20 * MS);
    yarn_waits_lose(&waits, 30 * MS);
    yarn_waits_on_in(&waits, THREAD, 500 * MS, CPU);
    ck_assert_uint_eq(written_ns, 20 * MS);
}
END_TEST

/* A round by clock at that time, in which the thread is blocked wherever it is looked at. */
static void look_by_clock(uint64_t at_ns, uint64_t cpu_ns, bool moves)
{
    const struct yarn_wait_place place = {.stack = THREAD};
    yarn_waits_begin_round(&waits, at_ns);
    struct yarn_wait *wait = next_of(THREAD);
    ck_assert_ptr_nonnull(wait);
    if (!yarn_waits_stands(&waits, wait, cpu_ns) && moves)
        yarn_waits_void_look(&waits, wait);
    else if (wait->cpu_ns && !wait->look_until_ns)
        yarn_waits_add_look(&waits, wait, at_ns, at_ns + 5, &place);
    yarn_waits_end_round(&waits, NULL, at_ns);
}

static void go_by_clock(uint64_t now_ns)
{
    yarn_waits_go_by_clock(&waits, now_ns);
    yarn_waits_add(&waits, THREAD, now_ns);
}

START_TEST(by_clock_a_thread_that_stands_waits_from_round_to_round)
{
    go_by_clock(100 * MS);
    for (unsigned i = 1; i <= 100; i++)
        look_by_clock((100 + 10 * i) * MS, 5, false);
    ck_assert_uint_lt(nr_written, 12); /* by doublings */
    ck_assert_uint_ge(written_ns, 500 * MS);
    yarn_waits_stop(&waits, 1105 * MS);
    ck_assert_uint_eq(written_ns, 1000 * MS);
    ck_assert_uint_eq(yarn_waits_sum_ns(&waits, 1105 * MS), 1000 * MS);
}
END_TEST

START_TEST(by_clock_each_look_at_a_thread_that_moves_stands_for_its_round)
{
    go_by_clock(100 * MS);
    for (unsigned i = 1; i <= 10; i++)
        look_by_clock((100 + 10 * i) * MS, 5 + i, i % 2);
    yarn_waits_on_end(&waits, THREAD, 201 * MS);
    ck_assert_uint_eq(written_ns, 100 * MS);
    ck_assert_uint_eq(waits.nr_void, 5);
}
END_TEST

/* What is owed is of when it stood: in the round that finds its clock moved it may wait elsewhere.
 */
START_TEST(by_clock_no_time_is_written_at_which_the_thread_has_moved)
{
    go_by_clock(100 * MS);
    for (unsigned i = 1; i <= 5; i++)
        look_by_clock((100 + 10 * i) * MS, 5, false);
    ck_assert_uint_eq(written_ns, 40 * MS);
    look_by_clock(160 * MS, 6, true);
    ck_assert_uint_eq(written_ns, 50 * MS);
    ck_assert_uint_eq(last_time_ns, 150 * MS);
}
END_TEST
START_TEST(by_clock_records_do_nothing_until_they_come_again)
{
    go_by_clock(100 * MS);
    yarn_waits_on_out(&waits, THREAD, 101 * MS, false);
    yarn_waits_on_in(&waits, THREAD, 151 * MS, CPU);
    ck_assert_uint_eq(yarn_waits_sum_ns(&waits, 151 * MS), 0);
    yarn_waits_start(&waits, 200 * MS);
    yarn_waits_on_out(&waits, THREAD, 203 * MS, false);
    ck_assert(look(THREAD, 210 * MS, 210 * MS + 5));
    yarn_waits_on_in(&waits, THREAD, 303 * MS, CPU);
    ck_assert_uint_eq(written_ns, 100 * MS);
}
END_TEST

START_TEST(an_ended_thread_makes_room)
{
    for (uint32_t tid = 1; tid < 200000; tid++) {
        yarn_waits_on_in(&waits, tid, tid * MS, CPU);
        yarn_waits_on_end(&waits, tid, tid * MS + 1);
    }
    ck_assert_uint_eq(waits.count, 1);
    ck_assert_uint_eq(nr_released, 199999);
    ck_assert_uint_eq(waits.nr_unknown_threads, 0);
    ck_assert(!yarn_waits_has(&waits, 199999));
}
END_TEST

START_TEST(more_looks_than_there_may_be_double_the_period)
{
    const struct yarn_wait_place place = {.stack = 1};
    for (uint32_t tid = 1; tid <= 300; tid++)
        yarn_waits_on_out(&waits, tid, 0, false);
    bool is_slower = false;
    for (unsigned i = 1; !is_slower; i++) {
        ck_assert_uint_le(i, 8);
        yarn_waits_begin_round(&waits, i * PERIOD);
        struct yarn_wait *wait = NULL;
        while ((wait = yarn_waits_next(&waits, wait)))
            yarn_waits_add_look(&waits, wait, i * PERIOD, i * PERIOD + 1, &place);
        is_slower = yarn_waits_end_round(&waits, NULL, i * PERIOD + 1);
        for (uint32_t tid = 1; tid <= 300; tid++) {
            yarn_waits_on_in(&waits, tid, i * PERIOD + 2, CPU);
            yarn_waits_on_out(&waits, tid, i * PERIOD + 3, false);
        }
    }
    ck_assert_uint_eq(waits.period_ns, 2 * PERIOD);
}
END_TEST

static uint64_t random_state;

static uint64_t below(uint64_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % limit;
}

/* Waits of 50 to 2,050 us with pauses between, and rounds that come when they come: early, late,
 * and now and then very late. */
START_TEST(the_sum_of_short_waits_is_right_whatever_the_rounds)
{
    uint64_t now_ns = 0, blocked_ns = 0, round_at_ns = MS;
    random_state = 4711;
    for (unsigned i = 0; i < 400000; i++) {
        uint64_t out_ns = now_ns + 1 + below(MS), in_ns = out_ns + 50000 + below(2 * MS);
        yarn_waits_on_out(&waits, THREAD, out_ns, false);
        for (; round_at_ns < in_ns; round_at_ns += MS / 2 + below(_i ? 40 * MS : MS)) {
            if (round_at_ns >= out_ns)
                look(THREAD, round_at_ns, round_at_ns);
            else
                look(OTHER, round_at_ns, round_at_ns);
        }
        yarn_waits_on_in(&waits, THREAD, in_ns, CPU);
        yarn_waits_update(&waits, in_ns);
        blocked_ns += in_ns - out_ns;
        now_ns = in_ns;
    }
    ck_assert_uint_ge(written_ns, blocked_ns / 100 * 98);
    ck_assert_uint_le(written_ns, blocked_ns / 100 * 102);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("waits");
    TCase *tcase = tcase_create("one thread");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_long_wait_is_exact);
    tcase_add_test(tcase, a_short_wait_stands_for_the_time_since_the_round_before);
    tcase_add_test(tcase, rounds_that_nobody_needed_are_in_no_weight);
    tcase_add_test(tcase, a_look_beside_a_switch_does_not_count);
    tcase_add_test(tcase, what_a_wait_stood_for_that_was_awake_is_added_to_the_next_one);
    tcase_add_test(tcase, a_look_may_be_older_than_the_record_of_its_wait);
    tcase_add_test(tcase, a_look_at_a_thread_that_was_preempted_does_not_count);
    tcase_add_test(tcase, a_wait_is_written_at_each_doubling);
    tcase_add_test(tcase, a_thread_is_looked_at_once_a_wait);
    tcase_add_test(tcase, a_thread_that_only_runs_is_not_looked_at_for_ever);
    tcase_add_test(tcase, waits_that_began_before_the_recording_count_from_its_start);
    tcase_add_test(tcase, after_a_loss_waits_grow_no_more);
    tcase_add_test(tcase, by_clock_a_thread_that_stands_waits_from_round_to_round);
    tcase_add_test(tcase, by_clock_each_look_at_a_thread_that_moves_stands_for_its_round);
    tcase_add_test(tcase, by_clock_no_time_is_written_at_which_the_thread_has_moved);
    tcase_add_test(tcase, by_clock_records_do_nothing_until_they_come_again);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("many");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, an_ended_thread_makes_room);
    tcase_add_test(tcase, more_looks_than_there_may_be_double_the_period);
    tcase_add_loop_test(tcase, the_sum_of_short_waits_is_right_whatever_the_rounds, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
