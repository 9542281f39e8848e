/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <yarn/counters.h>

#include "tests/support/suite.h"

enum { PAGE = 4096, PAGES = 500, THREADS = 4, TOLERANCE = 20 };

static void touch_pages(void)
{
    char *pages =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    (void)madvise(pages, PAGES * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < PAGES; i++)
        ((volatile char *)pages)[i * PAGE] = 1;
    (void)munmap(pages, PAGES * PAGE);
}

static int gate[2], ready[2];

static void *touch_at_gate(void *unused)
{
    char byte;
    (void)unused;
    if (write(ready[1], "", 1) != 1 || read(gate[0], &byte, 1) != 0)
        abort();
    touch_pages();
    return NULL;
}

static void *touch_at_once(void *unused)
{
    (void)unused;
    touch_pages();
    return NULL;
}

static struct yarn_counters *open_counters(const char *text, enum yarn_scope scope)
{
    struct yarn_events *events;
    struct yarn_counters *counters;
    ck_assert_int_eq(yarn_events_parse(text, &events, NULL), 0);
    int err = yarn_counters_open(events, scope, &counters);
    yarn_events_free(events); /* they are not needed any longer */
    ck_assert_int_eq(err, 0);
    return counters;
}

START_TEST(a_region_of_a_thread_is_counted)
{
    struct yarn_counters *counters =
        open_counters("page-faults,{task-clock,minor-faults}", YARN_SCOPE_THREAD);
    struct yarn_value values[3];
    touch_pages();
    ck_assert_int_eq(yarn_counters_start(counters), 0);
    touch_pages();
    ck_assert_int_eq(yarn_counters_stop(counters), 0);
    touch_pages();
    ck_assert_int_eq(yarn_counters_read(counters, values, 3), 0);
    ck_assert_uint_ge(values[0].count, PAGES);
    ck_assert_uint_le(values[0].count, PAGES + TOLERANCE);
    ck_assert_uint_ge(values[2].count, PAGES);
    ck_assert_uint_eq(values[0].running_ns, values[0].enabled_ns);
    ck_assert_uint_gt(values[1].count, 0);
    yarn_counters_close(counters);
}
END_TEST

START_TEST(threads_before_and_after_the_opening_are_counted_once)
{
    pthread_t threads[2 * THREADS];
    struct yarn_value value;
    char bytes[THREADS];
    ck_assert_int_eq(pipe(gate), 0);
    ck_assert_int_eq(pipe(ready), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, touch_at_gate, NULL), 0);
    for (size_t got = 0; got < THREADS;)
        got += (size_t)read(ready[0], bytes, sizeof bytes);
    struct yarn_counters *counters = open_counters("page-faults", YARN_SCOPE_PROCESS);
    ck_assert_int_eq(yarn_counters_start(counters), 0);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[THREADS + i], NULL, touch_at_once, NULL), 0);
    (void)close(gate[1]);
    for (int i = 0; i < 2 * THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(yarn_counters_stop(counters), 0);
    ck_assert_int_eq(yarn_counters_read(counters, &value, 1), 0);
    ck_assert_uint_ge(value.count, 2 * THREADS * PAGES);
    /* Twice would be twice as many; what a sanitizer does for each thread is a few more. */
    ck_assert_uint_le(value.count, 3 * THREADS * PAGES);
    yarn_counters_close(counters);
}
END_TEST

/* While a thread counts itself, two readings by two calls differ by what lies between them. */
START_TEST(a_group_is_read_in_one_moment_and_stops_in_one)
{
    const enum yarn_scope scope = _i ? YARN_SCOPE_PROCESS : YARN_SCOPE_THREAD;
    struct yarn_counters *counters =
        open_counters("{task-clock,page-faults,minor-faults},page-faults", scope);
    struct yarn_value values[4], again[4];
    ck_assert_int_eq(yarn_counters_start(counters), 0);
    touch_pages();
    for (int i = 0; i < 100; i++) {
        ck_assert_int_eq(yarn_counters_read(counters, values, 4), 0);
        ck_assert_uint_eq(values[1].enabled_ns, values[0].enabled_ns);
        ck_assert_uint_eq(values[2].enabled_ns, values[0].enabled_ns);
        ck_assert_uint_gt(values[3].enabled_ns, values[0].enabled_ns);
    }
    ck_assert_int_eq(yarn_counters_stop(counters), 0);
    ck_assert_int_eq(yarn_counters_read(counters, values, 4), 0);
    touch_pages();
    ck_assert_int_eq(yarn_counters_read(counters, again, 4), 0);
    ck_assert_mem_eq(values, again, sizeof values);
    ck_assert_uint_ge(values[1].count, PAGES);
    ck_assert_uint_ge(values[2].count, PAGES);
    /* Twice would be twice as many; what a sanitizer touches in a hundred readings is a few more.
     */
    ck_assert_uint_le(values[2].count, PAGES + 10 * TOLERANCE);
    ck_assert_int_eq(yarn_counters_read(counters, again, 2), 0);
    yarn_counters_close(counters);
}
END_TEST

START_TEST(a_refused_event_stands_beside_those_that_count)
{
    struct yarn_counters *counters = open_counters("cs:u,task-clock", YARN_SCOPE_THREAD);
    struct yarn_value values[2];
    const char *reason;
    ck_assert_int_eq(yarn_counters_start(counters), 0);
    ck_assert_int_eq(yarn_counters_read(counters, values, 2), 0);
    ck_assert_int_eq(values[0].error, -EOPNOTSUPP);
    ck_assert_uint_eq(values[0].enabled_ns, 0);
    ck_assert_int_eq(values[1].error, 0);
    ck_assert_int_eq(yarn_counters_error(counters, 0, &reason), -EOPNOTSUPP);
    ck_assert_uint_gt(strlen(reason), 20);
    ck_assert_int_eq(yarn_counters_error(counters, 1, &reason), 0);
    ck_assert_ptr_null(reason);
    ck_assert_int_eq(yarn_counters_error(counters, 2, &reason), -EINVAL);
    ck_assert_int_eq(yarn_counters_error(NULL, 0, NULL), -EINVAL);
    ck_assert_uint_eq(yarn_counters_status(counters, 0, &reason), YARN_EVENT_REFUSED);
    ck_assert_ptr_nonnull(reason);
    ck_assert_uint_eq(yarn_counters_status(counters, 1, &reason), 0);
    ck_assert_ptr_null(reason);
    ck_assert_uint_eq(yarn_counters_status(counters, 2, NULL), YARN_EVENT_REFUSED);
    yarn_counters_close(counters);
}
END_TEST

START_TEST(what_counts_nothing_at_all_is_not_opened)
{
    struct yarn_events *events;
    struct yarn_counters *counters;
    struct yarn_fault fault;
    ck_assert_int_eq(yarn_events_parse("task-clock,page-fault", &events, &fault), -EINVAL);
    ck_assert_uint_eq(fault.at, 11);
    ck_assert_ptr_nonnull(strstr(fault.text, "page-faults?"));
    ck_assert_int_eq(yarn_events_parse("cs:u", &events, NULL), 0);
    ck_assert_uint_eq(yarn_events_count(events), 1);
    ck_assert_str_eq(yarn_events_name(events, 0), "context-switches:u");
    ck_assert_str_eq(yarn_events_unit(events, 0), "events");
    ck_assert_int_eq(yarn_counters_open(events, YARN_SCOPE_THREAD, &counters), -EOPNOTSUPP);
    yarn_events_free(events);
    yarn_counters_close(NULL);
}
END_TEST

START_TEST(a_forked_child_is_told_that_they_are_not_its_own)
{
    struct yarn_counters *counters = open_counters("task-clock", YARN_SCOPE_THREAD);
    struct yarn_value value;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(yarn_counters_start(counters) == -ECHILD &&
              yarn_counters_read(counters, &value, 1) == -ECHILD);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 1 << 8);
    yarn_counters_close(counters);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("counters");
    TCase *regions = tcase_create("this process counts itself");
    if (!IS_THREAD_SANITIZED) {
        tcase_add_test(regions, a_region_of_a_thread_is_counted);
        tcase_add_test(regions, threads_before_and_after_the_opening_are_counted_once);
        tcase_add_loop_test(regions, a_group_is_read_in_one_moment_and_stops_in_one, 0, 2);
    }
    tcase_add_test(regions, a_refused_event_stands_beside_those_that_count);
    tcase_add_test(regions, what_counts_nothing_at_all_is_not_opened);
    tcase_add_test(regions, a_forked_child_is_told_that_they_are_not_its_own);
    suite_add_tcase(suite, regions);
    return run_suite(suite);
}
