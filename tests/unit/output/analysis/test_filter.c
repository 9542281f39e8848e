/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "loaded.h"
#include "output/fold/choice.h"
#include "tests/support/suite.h"

static struct loaded loaded;
static struct dump_maker maker;

/* Two processes of 100 ms each from the same moment on. */
static void set_up(void)
{
    loaded_open(&loaded);
    dump_maker_open(&maker, loaded_path(&loaded, "a"), "app", 100);
    dump_maker_add_thread(&maker, 101, "worker");
    uint32_t hot = dump_maker_stack(&maker, "main;hot");
    uint32_t warm = dump_maker_stack(&maker, "main;hot;libx!warm");
    dump_maker_sample(&maker, 100, hot, YARN_DUMP_STACK_COMPLETE, 60);
    dump_maker_sample(&maker, 101, warm, YARN_DUMP_STACK_COMPLETE, 40);
    dump_maker_close(&maker, false);
    dump_maker_open(&maker, loaded_path(&loaded, "b"), "child", 200);
    hot = dump_maker_stack(&maker, "main;hot");
    dump_maker_sample(&maker, 200, hot, YARN_DUMP_STACK_COMPLETE, 100);
    dump_maker_close(&maker, false);
}

static void tear_down(void)
{
    loaded_close(&loaded);
}

static const struct {
    struct yarn_filter filter;
    const char *function;
    enum yarn_by by;
    const char *want;
} cases[] = {
    {{.lists[YARN_FILTER_THREAD] = "worker"},
     NULL,
     YARN_BY_FUNCTION,
     "warm 40 40 40; hot 0 40 0; main 0 40 0"},
    {{.lists[YARN_FILTER_THREAD] = "101"}, NULL, YARN_BY_THREAD, "worker 40 40 40"},
    {{.lists[YARN_FILTER_THREAD] = "100,200"},
     NULL,
     YARN_BY_THREAD,
     "child 100 100 100; app 60 60 60"},
    {{.lists[YARN_FILTER_THREAD] = "w*,nobody"}, NULL, YARN_BY_THREAD, "worker 40 40 40"},
    {{.lists[YARN_FILTER_COMM] = "app"}, NULL, YARN_BY_THREAD, "app 60 60 60"},
    {{.lists[YARN_FILTER_COMM] = "100"}, NULL, YARN_BY_THREAD, ""},
    {{.lists[YARN_FILTER_PROCESS] = "200"},
     NULL,
     YARN_BY_FUNCTION,
     "hot 100 100 100; main 0 100 0"},
    {{.lists[YARN_FILTER_PROCESS] = "app"}, NULL, YARN_BY_PROCESS, "app 100 100 100"},
    {{.lists[YARN_FILTER_MODULE] = "libx.so.1"}, NULL, YARN_BY_FUNCTION, "warm 40 40 40"},
    {{.lists[YARN_FILTER_MODULE] = "/usr/bin/ap*"},
     NULL,
     YARN_BY_FUNCTION,
     "hot 60 100 60; main 0 100 0"},
    {{.has_function = false},
     "^(warm|main)$",
     YARN_BY_FUNCTION,
     "warm 40 40 40; main 0 100 0; main 0 100 0"},
    {{.has_function = false}, "warm", YARN_BY_THREAD, "worker 40 40 40"},
    {{.has_function = false},
     "hot",
     YARN_BY_THREAD,
     "child 100 100 100; app 60 60 60; worker 0 40 0"},
    {{.has_function = false}, "warm", YARN_BY_MODULE, "libx.so.1 40 40 40"},
    {{.lists[YARN_FILTER_EVENT] = "cycles"}, NULL, YARN_BY_FUNCTION, ""},
    {{.lists[YARN_FILTER_EVENT] = "cpu-clock"}, NULL, YARN_BY_EVENT, "cpu-clock 200 200 200"},
};

START_TEST(filter_leaves_the_rows)
{
    struct yarn_filter filter = cases[_i].filter;
    char why[64];
    loaded_read(&loaded);
    if (cases[_i].function)
        ck_assert_int_eq(yarn_filter_set_function(&filter, cases[_i].function, why, sizeof why), 0);
    ck_assert_str_eq(loaded_rows(&loaded, &filter, cases[_i].by), cases[_i].want);
    /* Percentages stay those of the whole event. */
    ck_assert_uint_eq(loaded.profile.events[0].total, 200 * MAKER_PERIOD_NS);
    yarn_filter_fini(&filter);
}
END_TEST

static const struct {
    const char *time;
    uint64_t samples;
} times[] = {
    {"..", 200},        {"0..50ms", 100},
    {"50ms..", 102},    {"0.0505..0.0595", 18},
    {"200ms..", 0},     {"@1000.0505..@1000.06", 20},
    {"..@1000.01", 20},
};

START_TEST(time_cuts_the_samples)
{
    loaded_read_part(&loaded, times[_i].time, false);
    ck_assert_uint_eq(loaded.profile.events[0].samples, times[_i].samples);
    ck_assert_uint_eq(loaded.profile.events[0].total, times[_i].samples * MAKER_PERIOD_NS);
    /* The trust report is of the whole dump. */
    ck_assert_uint_eq(loaded.profile.dumps[0].trust.samples, 100);
    ck_assert(!loaded.profile.dumps[0].trust.disagrees);
}
END_TEST

static const struct {
    struct yarn_filter filter;
    bool passes;
} of_no_thread[] = {
    {{.has_function = false}, true},
    {{.lists[YARN_FILTER_EVENT] = "cpu-clock"}, true},
    {{.lists[YARN_FILTER_THREAD] = "nobody"}, false},
    {{.lists[YARN_FILTER_COMM] = "*"}, false},
    {{.lists[YARN_FILTER_PROCESS] = "app,child"}, false},
};

/* The scheduler's idle threads and those of other processes are in no dump's list: what their name
 * is nobody knows, so no name is theirs, even where all threads that are known pass. */
START_TEST(who_is_of_no_recorded_process_passes_no_filter_of_threads)
{
    struct yarn_choice choice;
    loaded_read(&loaded);
    ck_assert_int_eq(yarn_choice_init(&choice, &loaded.profile, &of_no_thread[_i].filter), 0);
    ck_assert_int_eq(yarn_choice_has(&choice, 0, YARN_DUMP_NONE, YARN_DUMP_NONE, 0),
                     of_no_thread[_i].passes);
    yarn_choice_fini(&choice);
}
END_TEST

static const char *const bad_times[] = {"",    "1s",      "a..b",   "1..x",
                                        "@..", "1s...2s", "5s..1s", "@5s..@1s"};

START_TEST(a_time_without_sense_is_refused)
{
    struct yarn_time_range range;
    ck_assert_int_lt(yarn_time_range_parse(bad_times[_i], &range), 0);
}
END_TEST

START_TEST(an_expression_without_sense_is_refused_with_a_reason)
{
    struct yarn_filter filter = {0};
    char why[64] = "";
    ck_assert_int_eq(yarn_filter_set_function(&filter, "a(b", why, sizeof why), -EINVAL);
    ck_assert_uint_gt(strlen(why), 0);
    yarn_filter_fini(&filter);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filter");
    TCase *tcase = tcase_create("two processes");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, filter_leaves_the_rows, 0, (int)YARN_COUNT_OF(cases));
    tcase_add_loop_test(tcase, who_is_of_no_recorded_process_passes_no_filter_of_threads, 0,
                        (int)YARN_COUNT_OF(of_no_thread));
    tcase_add_loop_test(tcase, time_cuts_the_samples, 0, (int)YARN_COUNT_OF(times));
    suite_add_tcase(suite, tcase);
    TCase *words = tcase_create("words");
    tcase_add_loop_test(words, a_time_without_sense_is_refused, 0, (int)YARN_COUNT_OF(bad_times));
    tcase_add_test(words, an_expression_without_sense_is_refused_with_a_reason);
    suite_add_tcase(suite, words);
    return run_suite(suite);
}
