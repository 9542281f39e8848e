/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "loaded.h"
#include "tests/support/suite.h"

static struct loaded loaded;
static struct dump_maker maker;

static void set_up(void)
{
    loaded_open(&loaded);
}

static void tear_down(void)
{
    loaded_close(&loaded);
}

static void begin(const char *name, uint32_t pid)
{
    dump_maker_open(&maker, loaded_path(&loaded, name), name, pid);
}

static void sample(const char *words, uint32_t end, uint64_t count)
{
    uint32_t stack = *words ? dump_maker_stack(&maker, words) : YARN_DUMP_NONE;
    dump_maker_sample(&maker, 100, stack, end, count);
}

static void end_and_read(void)
{
    dump_maker_close(&maker, false);
    loaded_read(&loaded);
}

START_TEST(self_is_of_the_leaf_and_total_of_the_stack)
{
    begin("app", 100);
    sample("main;hot", YARN_DUMP_STACK_COMPLETE, 60);
    sample("main;hot;warm", YARN_DUMP_STACK_COMPLETE, 30);
    sample("main", YARN_DUMP_STACK_COMPLETE, 10);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "hot 60 90 60; warm 30 30 30; main 10 100 10");
    ck_assert_uint_eq(loaded.profile.events[0].total, 100 * MAKER_PERIOD_NS);
    ck_assert_uint_eq(loaded.profile.events[0].samples, 100);
}
END_TEST

START_TEST(equal_self_is_ordered_by_name)
{
    begin("app", 100);
    sample("main;b", YARN_DUMP_STACK_COMPLETE, 5);
    sample("main;a", YARN_DUMP_STACK_COMPLETE, 5);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION), "a 5 5 5; b 5 5 5; main 0 10 0");
}
END_TEST

START_TEST(recursion_counts_once_a_sample)
{
    begin("app", 100);
    sample("main;f;g;f;f", YARN_DUMP_STACK_COMPLETE, 7);
    sample("main;f", YARN_DUMP_STACK_COMPLETE, 3);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "f 10 10 10; g 0 7 0; main 0 10 0");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_MODULE), "app 10 10 10");
}
END_TEST

START_TEST(a_module_below_another_and_back_counts_once)
{
    begin("app", 100);
    sample("main;libx!call;back", YARN_DUMP_STACK_COMPLETE, 4);
    sample("main;libx!call", YARN_DUMP_STACK_COMPLETE, 6);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_MODULE), "libx.so.1 6 10 6; app 4 10 4");
}
END_TEST

START_TEST(what_is_missing_of_stacks_has_rows_of_its_own)
{
    begin("app", 100);
    sample("deep;leaf", YARN_DUMP_STACK_TRUNCATED, 4);
    sample("deep;leaf", YARN_DUMP_STACK_NO_UNWIND_INFO, 3);
    sample("deep;leaf", YARN_DUMP_STACK_FAILED, 2);
    sample("", YARN_DUMP_STACK_NONE, 1);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "leaf 9 9 9; [no stack] 1 1 1; [no unwind information] 0 3 0; [truncated] 0 4 "
                     "0; [unwinding failed] 0 2 0; deep 0 9 0");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_MODULE), "app 9 9 9; [unknown] 1 1 1");
}
END_TEST

START_TEST(functions_without_a_name_are_called_by_module_and_start)
{
    begin("app", 100);
    sample("main;+1a00", YARN_DUMP_STACK_COMPLETE, 2);
    sample("main;?", YARN_DUMP_STACK_COMPLETE, 1);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "app+0x1a00 2 2 2; [unknown] 1 1 1; main 0 3 0");
    ck_assert_uint_eq(loaded.profile.dumps[0].trust.leaves_unknown, 1);
}
END_TEST

START_TEST(several_dumps_are_one_profile)
{
    begin("app", 100);
    sample("main;libx!hot", YARN_DUMP_STACK_COMPLETE, 6);
    dump_maker_close(&maker, false);
    begin("child", 200);
    sample("main;libx!hot", YARN_DUMP_STACK_COMPLETE, 4);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "hot 10 10 10; main 0 6 0; main 0 4 0");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_PROCESS), "app 6 6 6; child 4 4 4");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_EVENT), "cpu-clock 10 10 10");
}
END_TEST

START_TEST(threads_and_cpus_have_their_samples)
{
    begin("app", 100);
    dump_maker_add_thread(&maker, 101, "worker");
    uint32_t stack = dump_maker_stack(&maker, "main;work");
    dump_maker_sample(&maker, 101, stack, YARN_DUMP_STACK_COMPLETE, 3);
    dump_maker_sample_of(&maker, 0, 100, 7, stack, 2 * MAKER_PERIOD_NS);
    dump_maker_close(&maker, false);
    loaded_read_part(&loaded, NULL, true);
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_THREAD), "worker 3 3 3; app 2 2 1");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_CPU), "cpu0 3 3 3; cpu7 2 2 1");
}
END_TEST

START_TEST(each_event_has_rows_of_its_own)
{
    begin("app", 100);
    dump_maker_add_event(&maker, 1, "page-faults", 0);
    sample("main", YARN_DUMP_STACK_COMPLETE, 3);
    dump_maker_sample_of(&maker, 1, 100, 0, dump_maker_stack(&maker, "main;fault"),
                         5 * MAKER_PERIOD_NS);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION),
                     "main 3 3 3; fault 5 5 1; main 0 5 0");
    struct yarn_filter filter = {.lists[YARN_FILTER_EVENT] = "page-*"};
    ck_assert_str_eq(loaded_rows(&loaded, &filter, YARN_BY_FUNCTION), "fault 5 5 1; main 0 5 0");
}
END_TEST

START_TEST(an_empty_dump_has_no_rows)
{
    begin("app", 100);
    end_and_read();
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_FUNCTION), "");
    ck_assert_str_eq(loaded_rows(&loaded, NULL, YARN_BY_THREAD), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rows");
    TCase *tcase = tcase_create("dumps of known stacks");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, self_is_of_the_leaf_and_total_of_the_stack);
    tcase_add_test(tcase, equal_self_is_ordered_by_name);
    tcase_add_test(tcase, recursion_counts_once_a_sample);
    tcase_add_test(tcase, a_module_below_another_and_back_counts_once);
    tcase_add_test(tcase, what_is_missing_of_stacks_has_rows_of_its_own);
    tcase_add_test(tcase, functions_without_a_name_are_called_by_module_and_start);
    tcase_add_test(tcase, several_dumps_are_one_profile);
    tcase_add_test(tcase, threads_and_cpus_have_their_samples);
    tcase_add_test(tcase, each_event_has_rows_of_its_own);
    tcase_add_test(tcase, an_empty_dump_has_no_rows);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
