/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <pthread.h>

#include "preload/control/state.h"
#include "tests/support/suite.h"

enum { THREADS = 4, ROUNDS = 20000 };

static struct yarn_state state;

static void start_anew(void)
{
    state = (struct yarn_state){.word = 0};
}

START_TEST(a_fresh_word_is_a_deferred_start)
{
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_DEFERRED);
    ck_assert(yarn_state_is_recording(&state));
    ck_assert_uint_eq(yarn_state_nr_in_exec(&state), 0);
    ck_assert(!yarn_state_has(&state, YARN_STATE_LEFT));
}
END_TEST

static const struct {
    enum yarn_phase phase;
    bool is_recording;
} phases[] = {
    {YARN_PHASE_DEFERRED, true}, {YARN_PHASE_LEAVING, true},  {YARN_PHASE_STARTING, true},
    {YARN_PHASE_RUNNING, true},  {YARN_PHASE_PAUSED, true},   {YARN_PHASE_ENDED, false},
    {YARN_PHASE_FAILED, false},  {YARN_PHASE_WAITING, false},
};

START_TEST(a_phase_keeps_everything_beside_it)
{
    yarn_state_set(&state, YARN_STATE_POLLING, true);
    yarn_state_enter_exec(&state);
    yarn_state_become(&state, phases[_i].phase, 0);
    ck_assert_int_eq(yarn_state_phase(&state), phases[_i].phase);
    ck_assert_int_eq(yarn_state_is_recording(&state), phases[_i].is_recording);
    ck_assert(yarn_state_has(&state, YARN_STATE_POLLING));
    ck_assert_uint_eq(yarn_state_nr_in_exec(&state), 1);
}
END_TEST

START_TEST(a_cause_goes_with_its_pause)
{
    yarn_state_become(&state, YARN_PHASE_PAUSED, 4);
    ck_assert_uint_eq(yarn_state_cause(&state), 4);
    yarn_state_become(&state, YARN_PHASE_RUNNING, 0);
    ck_assert_uint_eq(yarn_state_cause(&state), 0);
}
END_TEST

START_TEST(a_move_is_made_from_its_phase_only)
{
    ck_assert(!yarn_state_move(&state, YARN_PHASE_LEAVING, YARN_PHASE_ENDED));
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_DEFERRED);
    yarn_state_set(&state, YARN_STATE_LEFT, true);
    ck_assert(yarn_state_move(&state, YARN_PHASE_DEFERRED, YARN_PHASE_LEAVING));
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_LEAVING);
    ck_assert(yarn_state_has(&state, YARN_STATE_LEFT));
}
END_TEST

static const enum yarn_state_flag flags[] = {YARN_STATE_LEFT, YARN_STATE_BEHIND_FILTER,
                                             YARN_STATE_POLLING, YARN_STATE_DROPS_BOUNDS};

START_TEST(a_flag_says_whether_it_was_set_and_leaves_the_others)
{
    yarn_state_become(&state, YARN_PHASE_PAUSED, 3);
    ck_assert(!yarn_state_set(&state, flags[_i], true));
    ck_assert(yarn_state_set(&state, flags[_i], true));
    for (size_t i = 0; i < YARN_COUNT_OF(flags); i++)
        ck_assert_int_eq(yarn_state_has(&state, flags[i]), i == (size_t)_i);
    ck_assert(yarn_state_set(&state, flags[_i], false));
    ck_assert(!yarn_state_set(&state, flags[_i], false));
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_PAUSED);
    ck_assert_uint_eq(yarn_state_cause(&state), 3);
}
END_TEST

START_TEST(execs_are_counted_and_the_last_failure_says_so)
{
    yarn_state_enter_exec(&state);
    yarn_state_enter_exec(&state);
    ck_assert_uint_eq(yarn_state_nr_in_exec(&state), 2);
    ck_assert_uint_eq(yarn_state_leave_exec(&state), 1);
    ck_assert_uint_eq(yarn_state_leave_exec(&state), 0);
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_DEFERRED);
}
END_TEST

START_TEST(an_exec_that_was_cleared_changes_nothing_when_it_fails)
{
    yarn_state_become(&state, YARN_PHASE_RUNNING, 0);
    yarn_state_enter_exec(&state);
    yarn_state_clear_execs(&state);
    ck_assert_uint_eq(yarn_state_leave_exec(&state), 0);
    ck_assert_uint_eq(yarn_state_nr_in_exec(&state), 0);
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_RUNNING);
}
END_TEST

START_TEST(more_execs_than_the_word_holds_do_not_reach_its_other_parts)
{
    for (size_t i = 0; i < 70000; i++)
        yarn_state_enter_exec(&state);
    ck_assert_uint_eq(yarn_state_nr_in_exec(&state), 0xffff);
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_DEFERRED);
}
END_TEST

START_TEST(of_a_reset_only_who_left_stays)
{
    for (size_t i = 0; i < YARN_COUNT_OF(flags); i++)
        yarn_state_set(&state, flags[i], true);
    yarn_state_enter_exec(&state);
    yarn_state_become(&state, YARN_PHASE_PAUSED, 2);
    yarn_state_reset(&state, YARN_PHASE_STARTING);
    ck_assert_int_eq(yarn_state_phase(&state), YARN_PHASE_STARTING);
    ck_assert_uint_eq(yarn_state_cause(&state), 0);
    ck_assert_uint_eq(yarn_state_nr_in_exec(&state), 0);
    for (size_t i = 0; i < YARN_COUNT_OF(flags); i++)
        ck_assert_int_eq(yarn_state_has(&state, flags[i]), flags[i] == YARN_STATE_LEFT);
}
END_TEST

START_TEST(a_wait_ends_at_once_from_its_phase_on_and_by_time_before)
{
    yarn_state_become(&state, YARN_PHASE_STARTING, 0);
    ck_assert_int_eq(yarn_state_wait(&state, YARN_PHASE_RUNNING, 1000000), -ETIMEDOUT);
    yarn_state_become(&state, YARN_PHASE_RUNNING, 0);
    ck_assert_int_eq(yarn_state_wait(&state, YARN_PHASE_RUNNING, UINT64_C(60000000000)), 0);
    yarn_state_become(&state, YARN_PHASE_FAILED, 0);
    ck_assert_int_eq(yarn_state_wait(&state, YARN_PHASE_RUNNING, UINT64_C(60000000000)), 0);
}
END_TEST

static void *wait_for_end(void *unused)
{
    (void)unused;
    while (yarn_state_wait(&state, YARN_PHASE_ENDED, UINT64_C(60000000000)))
        ;
    return NULL;
}

START_TEST(who_waits_for_a_phase_is_woken_by_it)
{
    pthread_t waiter;
    ck_assert_int_eq(pthread_create(&waiter, NULL, wait_for_end, NULL), 0);
    yarn_state_become(&state, YARN_PHASE_RUNNING, 0);
    yarn_state_become(&state, YARN_PHASE_ENDED, 0);
    ck_assert_int_eq(pthread_join(waiter, NULL), 0);
}
END_TEST

static _Atomic uint32_t nr_firsts;

static void *change_everything(void *argument)
{
    enum yarn_state_flag flag = flags[(size_t)argument % YARN_COUNT_OF(flags)];
    for (int i = 0; i < ROUNDS; i++) {
        yarn_state_enter_exec(&state);
        atomic_fetch_add(&nr_firsts, !yarn_state_set(&state, flag, true));
        yarn_state_set(&state, flag, false);
        yarn_state_become(&state, YARN_PHASE_PAUSED, 1);
        yarn_state_leave_exec(&state);
    }
    return NULL;
}

START_TEST(no_change_of_one_thread_takes_back_another_s)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, change_everything, (void *)i), 0);
    for (size_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(atomic_load(&nr_firsts), THREADS * ROUNDS);
    ck_assert_uint_eq(yarn_state_nr_in_exec(&state), 0);
    ck_assert_uint_eq(atomic_load(&state.word), 1 << 4 | YARN_PHASE_PAUSED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("state");
    TCase *tcase = tcase_create("one thread");
    tcase_add_checked_fixture(tcase, start_anew, NULL);
    tcase_add_test(tcase, a_fresh_word_is_a_deferred_start);
    tcase_add_loop_test(tcase, a_phase_keeps_everything_beside_it, 0, YARN_COUNT_OF(phases));
    tcase_add_test(tcase, a_cause_goes_with_its_pause);
    tcase_add_test(tcase, a_move_is_made_from_its_phase_only);
    tcase_add_loop_test(tcase, a_flag_says_whether_it_was_set_and_leaves_the_others, 0,
                        YARN_COUNT_OF(flags));
    tcase_add_test(tcase, execs_are_counted_and_the_last_failure_says_so);
    tcase_add_test(tcase, an_exec_that_was_cleared_changes_nothing_when_it_fails);
    tcase_add_test(tcase, more_execs_than_the_word_holds_do_not_reach_its_other_parts);
    tcase_add_test(tcase, of_a_reset_only_who_left_stays);
    tcase_add_test(tcase, a_wait_ends_at_once_from_its_phase_on_and_by_time_before);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("several threads");
    tcase_add_checked_fixture(tcase, start_anew, NULL);
    tcase_add_test(tcase, who_waits_for_a_phase_is_woken_by_it);
    tcase_add_test(tcase, no_change_of_one_thread_takes_back_another_s);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
