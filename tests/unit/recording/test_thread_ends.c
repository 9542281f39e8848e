/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "recording/account/thread_ends.h"
#include "tests/support/suite.h"

enum { LARGEST_TID = (1 << 22) - 1, SHARING = YARN_THREAD_ENDS_MAX };

static void note(pid_t tid, uint64_t time_ns, uint64_t cpu_ns)
{
    struct yarn_dump_thread_end end = {.tid = (uint32_t)tid, .time_ns = time_ns, .cpu_ns = cpu_ns};
    yarn_thread_ends_note(&end);
}

static void take(pid_t tid, uint64_t time_ns, uint64_t cpu_ns)
{
    struct yarn_dump_thread_end end;
    ck_assert(yarn_thread_ends_take(tid, UINT64_MAX, &end));
    ck_assert_int_eq(end.tid, tid);
    ck_assert_uint_eq(end.time_ns, time_ns);
    ck_assert_uint_eq(end.cpu_ns, cpu_ns);
}

static void take_none(pid_t tid)
{
    struct yarn_dump_thread_end end;
    ck_assert(!yarn_thread_ends_take(tid, UINT64_MAX, &end));
}

START_TEST(what_a_thread_noted_is_taken_once)
{
    static const pid_t tids[] = {1, 4095, 4096, 4097, 32768, LARGEST_TID};
    for (size_t i = 0; i < sizeof tids / sizeof *tids; i++) {
        note(tids[i], 100 + i, i);
        take(tids[i], 100 + i, i);
        take_none(tids[i]);
    }
}
END_TEST

START_TEST(nobody_gets_the_time_of_another_and_what_finds_no_room_is_counted)
{
    uint64_t unnoted_ns = 1;
    note(5, 1, 50);
    take_none(6);
    take_none(5 + SHARING);
    note(5 + SHARING, 2, 60);
    note(5 + 2 * SHARING, 3, 70);
    take_none(5 + SHARING);
    take(5, 1, 50);
    ck_assert_uint_eq(yarn_thread_ends_take_unnoted(&unnoted_ns), 2);
    ck_assert_uint_eq(unnoted_ns, 1 + 60 + 70);
    ck_assert_uint_eq(yarn_thread_ends_take_unnoted(&unnoted_ns), 0);
    ck_assert_uint_eq(unnoted_ns, 1 + 60 + 70);
    note(5 + SHARING, 4, 80);
    take(5 + SHARING, 4, 80);
}
END_TEST

START_TEST(eight_thousand_threads_in_turn_have_a_place_each)
{
    for (pid_t tid = 1000; tid < 1000 + SHARING; tid++)
        note(tid, 1, (uint64_t)tid * 3);
    ck_assert_uint_eq(yarn_thread_ends_count(), SHARING);
    for (pid_t tid = 1000; tid < 1000 + SHARING; tid++)
        take(tid, 1, (uint64_t)tid * 3);
    ck_assert_uint_eq(yarn_thread_ends_count(), 0);
}
END_TEST

START_TEST(time_beyond_what_fits_stays_the_threads_own)
{
    note(9, 1, UINT64_MAX);
    take(9, 1, (UINT64_C(1) << 53) - 1);
}
END_TEST

START_TEST(what_was_noted_after_an_end_is_another_threads)
{
    struct yarn_dump_thread_end end;
    note(6, 21, 70);
    ck_assert(!yarn_thread_ends_take(6, 20, &end));
    ck_assert(yarn_thread_ends_take(6, 21, &end));
    ck_assert_uint_eq(end.cpu_ns, 70);
}
END_TEST

START_TEST(what_nobody_took_is_found_when_it_is_old_enough)
{
    struct yarn_dump_thread_end end;
    size_t cursor = 0;
    ck_assert(!yarn_thread_ends_next(&cursor, UINT64_MAX, &end));
    note(LARGEST_TID, 20, 7);
    note(70, 30, 8);
    note(80, 10, 9);
    take(80, 10, 9);
    cursor = 0;
    ck_assert(yarn_thread_ends_next(&cursor, 30, &end));
    ck_assert_int_eq(end.tid, LARGEST_TID);
    ck_assert_uint_eq(end.time_ns, 20);
    ck_assert_uint_eq(end.cpu_ns, 7);
    ck_assert(!yarn_thread_ends_next(&cursor, 30, &end));
}
END_TEST

START_TEST(what_is_found_stays_until_it_is_taken)
{
    struct yarn_dump_thread_end end;
    for (int i = 0; i < 2; i++) {
        size_t cursor = 0;
        note(70, 30, 8);
        ck_assert(yarn_thread_ends_next(&cursor, 31, &end));
        ck_assert_int_eq(end.tid, 70);
        ck_assert(!yarn_thread_ends_next(&cursor, 31, &end));
    }
    take(70, 30, 8);
    size_t cursor = 0;
    ck_assert(!yarn_thread_ends_next(&cursor, UINT64_MAX, &end));
}
END_TEST

START_TEST(a_child_knows_nothing_of_its_parents_threads)
{
    uint64_t unnoted_ns = 0;
    note(11, 1, 1);
    note(11, 1, 1);
    yarn_thread_ends_after_fork();
    ck_assert_uint_eq(yarn_thread_ends_count(), 0);
    ck_assert_uint_eq(yarn_thread_ends_take_unnoted(&unnoted_ns), 0);
    take_none(11);
    note(11, 2, 2);
    yarn_thread_ends_after_fork();
    yarn_thread_ends_after_fork();
    take_none(11);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thread_ends");
    TCase *tcase = tcase_create("notes");
    tcase_add_test(tcase, what_a_thread_noted_is_taken_once);
    tcase_add_test(tcase, nobody_gets_the_time_of_another_and_what_finds_no_room_is_counted);
    tcase_add_test(tcase, eight_thousand_threads_in_turn_have_a_place_each);
    tcase_add_test(tcase, time_beyond_what_fits_stays_the_threads_own);
    tcase_add_test(tcase, what_was_noted_after_an_end_is_another_threads);
    tcase_add_test(tcase, what_is_found_stays_until_it_is_taken);
    tcase_add_test(tcase, what_nobody_took_is_found_when_it_is_old_enough);
    tcase_add_test(tcase, a_child_knows_nothing_of_its_parents_threads);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
