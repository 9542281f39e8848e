/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#include <yarn/yarn.h>

#include "tests/support/suite.h"

/* A session on more threads than lists had room for once (1,024). */

enum {
    NR_THREADS = 1500,
    STACK_BYTES = 64 << 10,
    PAGE = 4096,
    TIMEOUT_MS = 10000,
    NR_OTHERS = 500
};

static pthread_barrier_t begun, may_fault, may_end;
static unsigned nr_samples;
static uint8_t *pages;

static void *fault_once(void *page)
{
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&may_fault);
    *(volatile uint8_t *)page = 1;
    pthread_barrier_wait(&may_end);
    return NULL;
}

static void on_record(void *self, size_t event, const struct yarn_record *record)
{
    (void)self;
    nr_samples += event == 0 && record->type == PERF_RECORD_SAMPLE &&
                  record->addr - (uint64_t)(uintptr_t)pages < (uint64_t)NR_THREADS * PAGE;
}

static bool begin(pthread_t *ret_threads)
{
    pthread_attr_t attr;
    unsigned count = 0;
    pages = mmap(NULL, (size_t)NR_THREADS * PAGE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, (size_t)NR_THREADS * PAGE, MADV_NOHUGEPAGE);
    pthread_barrier_init(&begun, NULL, NR_THREADS + 1);
    pthread_barrier_init(&may_fault, NULL, NR_THREADS + 1);
    pthread_barrier_init(&may_end, NULL, NR_THREADS + 1);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    while (count < NR_THREADS &&
           !pthread_create(&ret_threads[count], &attr, fault_once, pages + (size_t)count * PAGE))
        count++;
    if (count == NR_THREADS)
        pthread_barrier_wait(&begun);
    else
        printf("skipped: only %u threads could be made\n", count);
    return count == NR_THREADS;
}

static void end(const pthread_t *threads)
{
    pthread_barrier_wait(&may_end);
    for (unsigned i = 0; i < NR_THREADS; i++)
        pthread_join(threads[i], NULL);
}

static struct yarn_session *attach(int *ret_err)
{
    const struct yarn_listener listener = {.size = sizeof listener, .on_record = on_record};
    const struct yarn_session_spec spec = {
        .size = sizeof spec, .strategy = YARN_STRATEGY_PER_CORE, .ring_bytes = 256 << 10};
    struct yarn_events *events = NULL;
    struct yarn_session *session = NULL;
    ck_assert_int_eq(yarn_events_parse("page-faults/period=1/u", &events, NULL), 0);
    ck_assert_int_eq(yarn_session_new(events, &spec, &listener, &session), 0);
    yarn_events_free(events);
    *ret_err = yarn_session_attach(session);
    return session;
}

/* With descriptors for all of them every fault is a sample; each thread without is refused, and
 * counted. */
static void check_each(bool has_files)
{
    static pthread_t threads[NR_THREADS];
    struct yarn_report report = {.size = sizeof report};
    int err;
    nr_samples = 0;
    if (!begin(threads))
        return;
    struct yarn_session *session = attach(&err);
    if (err == -EACCES || err == -EPERM) {
        printf("skipped: no events here\n");
        pthread_barrier_wait(&may_fault);
        end(threads);
        yarn_session_free(session);
        return;
    }
    ck_assert_int_eq(err, 0);
    yarn_session_report(session, &report);
    if (IS_THREAD_SANITIZED)
        ck_assert_uint_ge(report.nr_threads + report.nr_refused, NR_THREADS);
    else
        ck_assert_uint_eq(report.nr_threads + report.nr_refused, NR_THREADS);
    ck_assert_int_eq(report.nr_refused == 0, has_files);
    ck_assert(has_files || report.reason);
    ck_assert_int_eq(yarn_session_start(session), 0);
    pthread_barrier_wait(&may_fault);
    end(threads);
    yarn_session_stop(session);
    while (yarn_session_read(session, TIMEOUT_MS) > 0)
        continue;
    if (IS_THREAD_SANITIZED)
        ck_assert_uint_le(nr_samples, report.nr_threads);
    else
        ck_assert_uint_eq(nr_samples, report.nr_threads);
    yarn_session_free(session);
}

START_TEST(each_of_fifteen_hundred_threads_has_its_sample)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max < (rlim_t)NR_THREADS * (rlim_t)sysconf(_SC_NPROCESSORS_CONF) + NR_OTHERS) {
        printf("skipped: the hard limit of descriptors is %lu\n", (unsigned long)limit.rlim_max);
        return;
    }
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){limit.rlim_max, limit.rlim_max}), 0);
    check_each(true);
}
END_TEST

START_TEST(threads_without_descriptors_are_refused_and_counted)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    /* Of two neighbouring limits one leaves a descriptor when the threads have theirs. */
    for (rlim_t files = 1023; files <= 1024; files++) {
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){files, limit.rlim_max}), 0);
        check_each(false);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("session_many");
    TCase *many = tcase_create("more threads than a thousand");
    tcase_set_timeout(many, 60);
    tcase_add_test(many, each_of_fifteen_hundred_threads_has_its_sample);
    tcase_add_test(many, threads_without_descriptors_are_refused_and_counted);
    suite_add_tcase(suite, many);
    return run_suite(suite);
}
