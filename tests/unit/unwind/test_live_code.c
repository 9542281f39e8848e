/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/suite.h"
#include "unwind/live_code.h"

enum { PAGE = 4096, LINE = 64, TRIES = 40 };
#define WATCHED_NS (50 * YARN_NS_PER_MS)

static struct yarn_live_code code;
static uint8_t *bytes;
static struct yarn_code_extent first, second; /* of two lines */
static pthread_t worker;
static atomic_bool is_ended;
static _Atomic pid_t worker_tid;

/* The process runs, besides the thread that reads. */
static void *work(void *unused)
{
    worker_tid = gettid();
    while (!is_ended)
        continue;
    return unused;
}

static void end_work(void)
{
    if (!atomic_exchange(&is_ended, true))
        pthread_join(worker, NULL);
}

static void open_code(void)
{
    is_ended = false;
    ck_assert_int_eq(pthread_create(&worker, NULL, work, NULL), 0);
    bytes = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert(bytes != MAP_FAILED);
    for (size_t i = 0; i < PAGE; i++)
        bytes[i] = (uint8_t)i;
    uint64_t start = (uintptr_t)bytes;
    first = (struct yarn_code_extent){start + 3, start + 9};
    second = (struct yarn_code_extent){start + LINE, start + LINE + 1};
    yarn_live_code_open(&code, &yarn_target_self);
}

static void close_code(void)
{
    end_work();
    yarn_live_code_close(&code);
    yarn_live_code_close(&code);
    munmap(bytes, 2 * PAGE);
}

static bool is_proven_now(struct yarn_code_extent extent)
{
    code.sample_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    return yarn_live_code_is_proven(&code, extent);
}

/* As the reader does, which other work on the machine may keep from it. */
static bool becomes_proven(struct yarn_code_extent extent, void (*meanwhile)(void))
{
    bool is_proven = is_proven_now(extent);
    for (unsigned i = 0; i < TRIES && !is_proven; i++) {
        uint64_t now_ns, end_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) + WATCHED_NS;
        while ((now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC)) < end_ns) {
            yarn_live_code_watch(&code, now_ns);
            if (meanwhile)
                meanwhile();
        }
        is_proven = is_proven_now(extent);
    }
    return is_proven;
}

START_TEST(code_is_proven_once_it_was_the_same_before_the_sample_for_a_while)
{
    ck_assert(!is_proven_now(first));
    uint64_t sample_ns = code.sample_ns;
    ck_assert(becomes_proven(first, NULL));
    code.sample_ns = sample_ns;
    ck_assert(!yarn_live_code_is_proven(&code, first));
}
END_TEST

START_TEST(changed_code_is_another_from_its_first_reading_on)
{
    ck_assert(becomes_proven(first, NULL));
    ck_assert(becomes_proven(second, NULL));
    uint32_t was = yarn_live_code_sign(&code, first);
    bytes[5] = 0xcc;
    ck_assert(!is_proven_now(first));
    ck_assert_uint_ne(yarn_live_code_sign(&code, first), was);
    ck_assert(is_proven_now(second));
    bytes[5] = 5;
    ck_assert(!is_proven_now(first));
    ck_assert_uint_eq(yarn_live_code_sign(&code, first), was);
}
END_TEST

START_TEST(readings_while_the_process_does_not_run_prove_nothing)
{
    end_work();
    ck_assert(!becomes_proven(first, NULL));
}
END_TEST

static void sleep_ns(uint64_t ns)
{
    (void)nanosleep(&(struct timespec){.tv_sec = (time_t)(ns / YARN_NS_PER_SECOND),
                                       .tv_nsec = (long)(ns % YARN_NS_PER_SECOND)},
                    NULL);
}

START_TEST(a_sample_between_readings_further_apart_than_the_code_was_the_same_is_not_proven)
{
    uint64_t begun_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    ck_assert(becomes_proven(first, NULL));
    uint64_t age_ns = yarn_clock_ns(YARN_TIME_MONOTONIC) - begun_ns;
    sleep_ns(age_ns);
    code.sample_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    sleep_ns(age_ns);
    ck_assert(!yarn_live_code_is_proven(&code, first));
    ck_assert(becomes_proven(first, NULL));
}
END_TEST

static void change(void)
{
    static uint64_t changed_ns;
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    if (now_ns - changed_ns < 5 * YARN_NS_PER_MS)
        return;
    changed_ns = now_ns;
    bytes[5] ^= 0xff;
}

START_TEST(code_that_goes_to_and_fro_is_never_proven)
{
    ck_assert(!becomes_proven(first, change));
    ck_assert(is_proven_now(second) || becomes_proven(second, NULL));
}
END_TEST

START_TEST(the_code_of_a_thread_that_still_stands_there_is_proven_by_itself)
{
    code.sample_ns = 0;
    ck_assert(yarn_live_code_is_proven(&code, first));
    ck_assert_uint_eq(code.nr_pages, 0);
}
END_TEST

START_TEST(samples_are_looked_at_soon_where_code_is_expected_and_where_there_is_some)
{
    ck_assert_uint_eq(code.watch_ns, UINT64_MAX);
    yarn_live_code_expect(&code);
    uint64_t begun_ns = code.expected_ns;
    ck_assert_uint_eq(code.watch_ns, begun_ns + 25 * YARN_NS_PER_MS);
    yarn_live_code_watch(&code, begun_ns + 30 * YARN_NS_PER_MS);
    ck_assert_uint_eq(code.watch_ns, begun_ns + 60 * YARN_NS_PER_MS);
    yarn_live_code_watch(&code, begun_ns + YARN_NS_PER_SECOND);
    ck_assert_uint_eq(code.watch_ns, UINT64_MAX);
    ck_assert(!is_proven_now(first));
    ck_assert_uint_lt(code.watch_ns, code.sample_ns + YARN_NS_PER_SECOND);
    yarn_live_code_watch(&code, begun_ns + 10 * YARN_NS_PER_SECOND);
    ck_assert_uint_le(code.watch_ns, begun_ns + 10 * YARN_NS_PER_SECOND + 20 * YARN_NS_PER_MS);
}
END_TEST

START_TEST(a_reader_that_comes_late_reads_often_until_there_were_enough)
{
    ck_assert(!is_proven_now(first));
    for (unsigned i = 0; i < 3; i++) {
        sleep_ns(20 * YARN_NS_PER_MS);
        uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        yarn_live_code_watch(&code, now_ns);
        ck_assert_uint_le(code.watch_ns, yarn_clock_ns(YARN_TIME_MONOTONIC) + 2 * YARN_NS_PER_MS);
    }
}
END_TEST

static bool runs_on(pid_t tid, size_t cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return sched_setaffinity(tid, sizeof set, &set) == 0;
}

/* While the process's clock goes on fewer than 12 times, the readings that are wanted; other work
 * on the machine may let it go on more often. */
START_TEST(a_thread_that_runs_on_another_core_is_seen_to_run_between_its_ticks)
{
    enum { STEPS = 5, PINNED_TRIES = 1000 };
    bool is_proven = false;
    while (!worker_tid)
        (void)sched_yield();
    if (!runs_on(worker_tid, 0) || !runs_on(0, 1))
        return;
    for (unsigned i = 0; i < PINNED_TRIES && !is_proven; i++) {
        yarn_live_code_close(&code);
        yarn_live_code_open(&code, &yarn_target_self);
        code.sample_tid = worker_tid;
        (void)is_proven_now(first);
        for (unsigned nr_steps = 0; nr_steps < STEPS && !is_proven;) {
            uint64_t ran_ns = yarn_target_ran_ns(&yarn_target_self);
            yarn_live_code_watch(&code, yarn_clock_ns(YARN_TIME_MONOTONIC));
            is_proven = is_proven_now(first);
            nr_steps += yarn_target_ran_ns(&yarn_target_self) - ran_ns > YARN_NS_PER_MS / 20;
        }
    }
    ck_assert(is_proven);
}
END_TEST

START_TEST(memory_that_is_empty_or_not_there_is_no_code)
{
    uint64_t start = (uintptr_t)bytes;
    ck_assert_uint_eq(
        yarn_live_code_sign(&code, (struct yarn_code_extent){start + PAGE, start + PAGE + 1}), 0);
    munmap(bytes, PAGE);
    ck_assert_uint_eq(yarn_live_code_sign(&code, first), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("live code");
    TCase *tests = tcase_create("pages of its own");
    tcase_add_checked_fixture(tests, open_code, close_code);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, code_is_proven_once_it_was_the_same_before_the_sample_for_a_while);
    tcase_add_test(tests, changed_code_is_another_from_its_first_reading_on);
    tcase_add_test(tests, readings_while_the_process_does_not_run_prove_nothing);
    tcase_add_test(
        tests, a_sample_between_readings_further_apart_than_the_code_was_the_same_is_not_proven);
    tcase_add_test(tests, code_that_goes_to_and_fro_is_never_proven);
    tcase_add_test(tests, the_code_of_a_thread_that_still_stands_there_is_proven_by_itself);
    tcase_add_test(tests,
                   samples_are_looked_at_soon_where_code_is_expected_and_where_there_is_some);
    tcase_add_test(tests, a_reader_that_comes_late_reads_often_until_there_were_enough);
    tcase_add_test(tests, a_thread_that_runs_on_another_core_is_seen_to_run_between_its_ticks);
    tcase_add_test(tests, memory_that_is_empty_or_not_there_is_no_code);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
