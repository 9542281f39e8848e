/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "core/sys/signal.h"
#include "tests/support/suite.h"

static volatile sig_atomic_t nr_taken;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)info;
    (void)context;
    nr_taken = nr_taken + 1;
}

static void on_other(int number)
{
    (void)number;
}

static int found(void)
{
    return yarn_signal_find(on_signal, 0);
}

START_TEST(a_signal_that_somebody_handles_is_passed_over)
{
    int first = found();
    ck_assert_int_ge(first, 34);
    signal(first, on_other);
    int second = found();
    ck_assert_int_ge(second, 34);
    ck_assert_int_ne(second, first);
    signal(second, SIG_IGN);
    ck_assert_int_ne(found(), second);
}
END_TEST

START_TEST(a_signal_that_is_blocked_is_passed_over)
{
    int first = found();
    ck_assert_int_ne(yarn_signal_find(on_signal, UINT64_C(1) << (first - 1)), first);
}
END_TEST

START_TEST(nothing_is_found_where_all_are_used)
{
    ck_assert_int_eq(yarn_signal_find(on_signal, ~UINT64_C(0)), -EBUSY);
    for (int number = SIGRTMIN; number <= SIGRTMAX; number++)
        signal(number, on_other);
    ck_assert_int_eq(found(), -EBUSY);
}
END_TEST

START_TEST(what_the_caller_blocks_is_told)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, 40);
    sigprocmask(SIG_BLOCK, &set, NULL);
    ck_assert_uint_eq(yarn_signal_blocked() >> 39 & 1, 1);
    ck_assert_uint_eq(yarn_signal_blocked() >> 40 & 1, 0);
}
END_TEST

START_TEST(a_taken_signal_comes_and_is_given_back_as_it_was)
{
    struct sigaction now;
    int number = found();
    ck_assert_int_eq(yarn_signal_take(number, on_signal), 0);
    ck_assert(yarn_signal_is_taken(number, on_signal));
    ck_assert_int_eq(yarn_signal_borrowed(), number);
    ck_assert_int_eq(found(), number);
    raise(number);
    raise(number);
    ck_assert_int_eq(nr_taken, 2);
    yarn_signal_give_back(number);
    ck_assert_int_eq(yarn_signal_borrowed(), 0);
    ck_assert(!yarn_signal_is_taken(number, on_signal));
    ck_assert_int_eq(sigaction(number, NULL, &now), 0);
    ck_assert(now.sa_handler == SIG_DFL);
}
END_TEST

START_TEST(a_hosts_own_handler_in_its_place_is_seen)
{
    int number = found();
    ck_assert_int_eq(yarn_signal_take(number, on_signal), 0);
    signal(number, on_other);
    ck_assert(!yarn_signal_is_taken(number, on_signal));
    yarn_signal_lose();
    ck_assert_int_eq(yarn_signal_borrowed(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("signal");
    TCase *borrowed = tcase_create("borrowing");
    tcase_add_test(borrowed, a_signal_that_somebody_handles_is_passed_over);
    tcase_add_test(borrowed, a_signal_that_is_blocked_is_passed_over);
    tcase_add_test(borrowed, a_taken_signal_comes_and_is_given_back_as_it_was);
    tcase_add_test(borrowed, a_hosts_own_handler_in_its_place_is_seen);
    tcase_add_test(borrowed, what_the_caller_blocks_is_told);
    tcase_add_test(borrowed, nothing_is_found_where_all_are_used);
    suite_add_tcase(suite, borrowed);
    return run_suite(suite);
}
