/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "tests/support/suite.h"
#include "unwind/join.h"

enum { TID = 42, CAPACITY = 16 };

static struct yarn_join join;

static void open_join(void)
{
    ck_assert_int_eq(yarn_join_open(&join), 0);
}

static void close_join(void)
{
    yarn_join_close(&join);
    yarn_join_close(&join);
}

/* ip, place, function */
static const struct yarn_join_frame whole[] = {{0x1004, 0x7000, 0x1000, true},
                                               {0x2004, 0x7100, 0x2000, false},
                                               {0x3004, 0x7200, 0x3000, false},
                                               {0x4004, 0x7300, 0x4000, false}};

/* frames[0] is a frame of its own, on top of the last of `whole`'s that the copy still holds. */
static unsigned complete_from(uint32_t tid, unsigned outer, struct yarn_join_frame *frames)
{
    frames[0] = (struct yarn_join_frame){0x9004, 0x6000, 0x9000, true};
    frames[1] = whole[outer];
    return yarn_join_complete(&join, tid, frames, 2, CAPACITY);
}

START_TEST(a_cut_stack_goes_on_as_a_whole_one_did)
{
    struct yarn_join_frame frames[CAPACITY];
    yarn_join_learn(&join, TID, whole, 4, true);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 4);
    ck_assert_uint_eq(frames[2].ip, 0x3004);
    ck_assert_uint_eq(frames[3].ip, 0x4004);
    ck_assert_uint_eq(frames[3].place, 0x7300);
}
END_TEST

START_TEST(cut_stacks_teach_what_they_hold)
{
    struct yarn_join_frame frames[CAPACITY];
    yarn_join_learn(&join, TID, whole, 3, false);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 2);
    yarn_join_learn(&join, TID, whole + 2, 2, true);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 4);
}
END_TEST

START_TEST(another_thread_s_frames_teach_nothing)
{
    struct yarn_join_frame frames[CAPACITY];
    yarn_join_learn(&join, TID, whole, 4, true);
    ck_assert_uint_eq(complete_from(TID + 1, 1, frames), 2);
}
END_TEST

START_TEST(a_frame_is_the_same_wherever_in_its_function_it_stands)
{
    struct yarn_join_frame frames[CAPACITY] = {{0x2044, 0x7100, 0x2000, false}};
    yarn_join_learn(&join, TID, whole, 4, true);
    ck_assert_uint_eq(yarn_join_complete(&join, TID, frames, 1, CAPACITY), 3);
    ck_assert_uint_eq(frames[1].ip, 0x3004);
}
END_TEST

START_TEST(the_same_code_at_another_place_of_the_stack_is_unknown)
{
    struct yarn_join_frame frames[CAPACITY] = {{0x2004, 0x7108, 0x2000, false}};
    yarn_join_learn(&join, TID, whole, 4, true);
    ck_assert_uint_eq(yarn_join_complete(&join, TID, frames, 1, CAPACITY), 1);
}
END_TEST

START_TEST(another_function_at_the_same_place_of_the_stack_is_unknown)
{
    struct yarn_join_frame frames[CAPACITY] = {{0x2004, 0x7100, 0x2001, false}};
    yarn_join_learn(&join, TID, whole, 4, true);
    ck_assert_uint_eq(yarn_join_complete(&join, TID, frames, 1, CAPACITY), 1);
}
END_TEST

START_TEST(a_frame_that_changed_its_caller_is_doubted_for_a_while)
{
    const struct yarn_join_frame newer[] = {
        whole[1], {0x5004, 0x7200, 0x5000, false}, {0x6004, 0x7300, 0x6000, false}};
    struct yarn_join_frame frames[CAPACITY];
    yarn_join_learn(&join, TID, whole, 4, true);
    yarn_join_learn(&join, TID, newer, 3, true);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 2);
    for (unsigned i = 0; i < 300; i++)
        yarn_join_learn(&join, TID, newer, 3, true);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 4);
    ck_assert_uint_eq(frames[2].ip, 0x5004);
}
END_TEST

enum { DEEP = 10, LATER = 100 };

static struct yarn_join_frame deep[DEEP];

static void learn_deep(unsigned times)
{
    for (uint32_t i = 0; i < DEEP; i++)
        deep[i] = (struct yarn_join_frame){0x1000 * (i + 1) + 4, 0x7000 + 0x100 * i,
                                           0x1000 * (i + 1), false};
    while (times--)
        yarn_join_learn(&join, TID, deep, DEEP, true);
}

static void learn_that_deep_ended(void)
{
    const struct yarn_join_frame others[] = {{0x8004, 0x6f00, 0x8000, true}, deep[DEEP - 1]};
    for (unsigned i = 0; i < LATER; i++)
        yarn_join_learn(&join, TID, others, 2, true);
}

static unsigned complete_deep(void)
{
    struct yarn_join_frame frames[CAPACITY] = {deep[0]};
    return yarn_join_complete(&join, TID, frames, 1, CAPACITY);
}

START_TEST(frames_met_once_that_later_walks_did_not_meet_where_they_were_are_not_believed)
{
    learn_deep(1);
    ck_assert_uint_eq(complete_deep(), DEEP);
    learn_that_deep_ended();
    ck_assert_uint_eq(complete_deep(), 1);
}
END_TEST

START_TEST(frames_that_were_met_often_are_believed_after_they_ended)
{
    learn_deep(4);
    learn_that_deep_ended();
    ck_assert_uint_eq(complete_deep(), DEEP);
}
END_TEST

START_TEST(frames_above_the_later_copies_are_believed_as_nothing_says_that_they_ended)
{
    learn_deep(1);
    const struct yarn_join_frame cut[] = {{0x8004, 0x6f00, 0x8000, true}, deep[0]};
    for (unsigned i = 0; i < LATER; i++)
        yarn_join_learn(&join, TID, cut, 2, false);
    ck_assert_uint_eq(complete_deep(), DEEP);
}
END_TEST

START_TEST(frames_that_do_not_climb_are_not_learnt_so_no_chain_is_a_loop)
{
    const struct yarn_join_frame loop[] = {whole[1], {0x3004, 0x7000, 0x3000, false}, whole[1]};
    struct yarn_join_frame frames[CAPACITY];
    yarn_join_learn(&join, TID, loop, 3, false);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 2);
}
END_TEST

START_TEST(a_chain_that_does_not_fit_is_left_out)
{
    struct yarn_join_frame frames[CAPACITY] = {whole[0]};
    yarn_join_learn(&join, TID, whole, 4, true);
    ck_assert_uint_eq(yarn_join_complete(&join, TID, frames, 1, 3), 1);
    frames[0] = whole[0];
    ck_assert_uint_eq(yarn_join_complete(&join, TID, frames, 1, 4), 4);
}
END_TEST

START_TEST(what_is_long_past_is_not_believed)
{
    struct yarn_join_frame frames[CAPACITY];
    yarn_join_learn(&join, TID, whole, 4, true);
    for (unsigned i = 0; i < 3 << 16; i++)
        yarn_join_learn(&join, TID + 1, whole, 1, false);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 2);
    yarn_join_learn(&join, TID, whole, 4, true);
    ck_assert_uint_eq(complete_from(TID, 1, frames), 4);
}
END_TEST

START_TEST(a_long_chain_is_kept_among_many)
{
    enum { LONG = 1000, THREADS = 4 };
    static struct yarn_join_frame frames[LONG];
    for (uint32_t tid = 1; tid <= THREADS; tid++) {
        for (uint64_t i = 0; i < LONG; i++)
            frames[i] =
                (struct yarn_join_frame){0x1000 + 16 * i, (tid << 24) + 64 * i, (uint32_t)i, false};
        yarn_join_learn(&join, tid, frames, LONG, true);
    }
    for (uint32_t tid = 1; tid <= THREADS; tid++) {
        frames[0] = (struct yarn_join_frame){0x1000, tid << 24, 0, false};
        ck_assert_uint_eq(yarn_join_complete(&join, tid, frames, 1, LONG), LONG);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("join");
    TCase *tests = tcase_create("join");
    tcase_add_checked_fixture(tests, open_join, close_join);
    tcase_add_test(tests, a_cut_stack_goes_on_as_a_whole_one_did);
    tcase_add_test(tests, cut_stacks_teach_what_they_hold);
    tcase_add_test(tests, another_thread_s_frames_teach_nothing);
    tcase_add_test(tests, a_frame_is_the_same_wherever_in_its_function_it_stands);
    tcase_add_test(tests, another_function_at_the_same_place_of_the_stack_is_unknown);
    tcase_add_test(tests, the_same_code_at_another_place_of_the_stack_is_unknown);
    tcase_add_test(tests, a_frame_that_changed_its_caller_is_doubted_for_a_while);
    tcase_add_test(tests,
                   frames_met_once_that_later_walks_did_not_meet_where_they_were_are_not_believed);
    tcase_add_test(tests, frames_that_were_met_often_are_believed_after_they_ended);
    tcase_add_test(tests,
                   frames_above_the_later_copies_are_believed_as_nothing_says_that_they_ended);
    tcase_add_test(tests, frames_that_do_not_climb_are_not_learnt_so_no_chain_is_a_loop);
    tcase_add_test(tests, a_chain_that_does_not_fit_is_left_out);
    tcase_add_test(tests, what_is_long_past_is_not_believed);
    tcase_add_test(tests, a_long_chain_is_kept_among_many);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
