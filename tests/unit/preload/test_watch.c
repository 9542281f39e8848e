/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "preload/watch.h"
#include "tests/support/suite.h"

#define MS YARN_NS_PER_MS
#define START (1000 * MS)

START_TEST(nothing_is_waited_for_while_stacks_are_whole)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    yarn_watch_note(&watch, START, false);
    ck_assert(!yarn_watch_is_on(&watch));
    ck_assert_uint_eq(yarn_watch_wait_ns(&watch, START), UINT64_MAX);
}
END_TEST

START_TEST(behind_a_cut_stack_each_sample_is_waited_for)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    yarn_watch_note(&watch, START, true);
    for (unsigned i = 0; i < 8; i++) {
        uint64_t sample_ns = START + i * MS, wait_ns;
        yarn_watch_note(&watch, sample_ns, i == 0);
        ck_assert(yarn_watch_is_on(&watch));
        wait_ns = yarn_watch_wait_ns(&watch, sample_ns + MS / 10);
        ck_assert_uint_gt(sample_ns + MS / 10 + wait_ns, sample_ns + MS);
        ck_assert_uint_lt(sample_ns + MS / 10 + wait_ns, sample_ns + MS + MS / 10);
    }
}
END_TEST

START_TEST(it_ends_a_while_after_the_last_cut_stack)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    yarn_watch_note(&watch, START, true);
    yarn_watch_note(&watch, START + 31 * MS, false);
    ck_assert(yarn_watch_is_on(&watch));
    yarn_watch_note(&watch, START + 33 * MS, false);
    ck_assert(!yarn_watch_is_on(&watch));
    ck_assert_uint_eq(yarn_watch_wait_ns(&watch, START + 33 * MS), UINT64_MAX);
}
END_TEST

/* One in `distance` samples is unknown. */
static void note_samples(struct yarn_watch *watch, unsigned count, unsigned distance)
{
    uint64_t begin_ns = watch->latest_ns + MS;
    for (unsigned i = 0; i < count; i++)
        yarn_watch_note(watch, begin_ns + i * MS, distance && i % distance == 0);
}

START_TEST(one_stack_in_sixty_is_many)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    note_samples(&watch, 600, 60);
    ck_assert(yarn_watch_has_many(&watch));
    note_samples(&watch, 1200, 0);
    ck_assert(!yarn_watch_has_many(&watch));
}
END_TEST

START_TEST(a_few_in_a_row_are_many)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    note_samples(&watch, 3, 1);
    ck_assert(!yarn_watch_has_many(&watch));
    note_samples(&watch, 3, 1);
    ck_assert(yarn_watch_has_many(&watch));
}
END_TEST

START_TEST(one_stack_in_three_hundred_is_not)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    for (unsigned i = 0; i < 20; i++) {
        note_samples(&watch, 300, 300);
        ck_assert(!yarn_watch_has_many(&watch));
    }
}
END_TEST

START_TEST(what_was_seen_before_is_no_news)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    ck_assert(yarn_watch_see(&watch, START));
    ck_assert(!yarn_watch_see(&watch, START));
    ck_assert(!yarn_watch_see(&watch, START - MS));
    ck_assert(yarn_watch_see(&watch, START + MS));
}
END_TEST

START_TEST(a_thread_that_does_not_run_is_not_waited_for)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    yarn_watch_note(&watch, START, true);
    uint64_t wait_ns = yarn_watch_wait_ns(&watch, START + 2 * MS);
    ck_assert_uint_gt(wait_ns, 0);
    ck_assert_uint_le(wait_ns, MS);
    ck_assert_uint_eq(yarn_watch_wait_ns(&watch, START + 4 * MS), UINT64_MAX);
}
END_TEST

START_TEST(fast_samples_are_not_waited_for_one_by_one)
{
    struct yarn_watch watch = yarn_watch_of(100000);
    yarn_watch_note(&watch, START, true);
    ck_assert_uint_ge(yarn_watch_wait_ns(&watch, START), MS / 2);
}
END_TEST

/* Wakes behind each sample of a thread whose every `distance`th stack is cut off; how many. */
static unsigned wake(struct yarn_watch *watch, unsigned nr_samples, unsigned distance,
                     bool makes_whole)
{
    uint64_t begin_ns = watch->latest_ns + MS;
    unsigned nr_wakes = 0;
    for (unsigned i = 0; i < nr_samples; i++) {
        bool is_unknown = i % distance == 0;
        yarn_watch_note(watch, begin_ns + i * MS, is_unknown);
        if (is_unknown && makes_whole)
            yarn_watch_reward(watch);
        if (!yarn_watch_is_on(watch))
            continue;
        yarn_watch_pay(watch);
        nr_wakes++;
    }
    return nr_wakes;
}

START_TEST(wakes_in_vain_become_as_rare_as_cut_stacks)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    ck_assert_uint_gt(wake(&watch, 200, 20, false), 50);
    ck_assert_uint_le(wake(&watch, 2000, 20, false), 100);
}
END_TEST

START_TEST(wakes_that_make_stacks_whole_go_on)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    ck_assert_uint_eq(wake(&watch, 3000, 20, true), 3000);
}
END_TEST

START_TEST(after_many_wakes_in_vain_one_that_is_not_brings_more)
{
    struct yarn_watch watch = yarn_watch_of(1000);
    wake(&watch, 2000, 20, false);
    ck_assert_uint_eq(wake(&watch, 20, 20, true), 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("watch");
    TCase *tests = tcase_create("watch");
    tcase_add_test(tests, nothing_is_waited_for_while_stacks_are_whole);
    tcase_add_test(tests, behind_a_cut_stack_each_sample_is_waited_for);
    tcase_add_test(tests, it_ends_a_while_after_the_last_cut_stack);
    tcase_add_test(tests, one_stack_in_sixty_is_many);
    tcase_add_test(tests, a_few_in_a_row_are_many);
    tcase_add_test(tests, one_stack_in_three_hundred_is_not);
    tcase_add_test(tests, what_was_seen_before_is_no_news);
    tcase_add_test(tests, a_thread_that_does_not_run_is_not_waited_for);
    tcase_add_test(tests, fast_samples_are_not_waited_for_one_by_one);
    tcase_add_test(tests, wakes_in_vain_become_as_rare_as_cut_stacks);
    tcase_add_test(tests, wakes_that_make_stacks_whole_go_on);
    tcase_add_test(tests, after_many_wakes_in_vain_one_that_is_not_brings_more);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
