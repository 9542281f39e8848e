/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "core/session/timer_threads.h"
#include "core/sys/clock.h"
#include "tests/support/suite.h"

enum { ARENA_BYTES = 4 * 1024 * 1024, RING_BYTES = 4096 };
#define WAIT_NS (100 * YARN_NS_PER_MS)
#define SOON_NS (5 * YARN_NS_PER_SECOND)

static uint32_t nr_told;

/* As if the host kept the reader waiting in the middle of a scan. */
static void wait_at(void *self, const struct yarn_typed_record *record)
{
    const struct timespec wait = {.tv_nsec = WAIT_NS};
    (void)self;
    nr_told += record->type == YARN_RECORD_FORK;
    nanosleep(&wait, NULL);
}

static void *sleep_on(void *unused)
{
    for (;;)
        pause();
    return unused;
}

START_TEST(scan_that_had_to_wait_does_not_put_the_next_off)
{
    struct yarn_arena arena;
    struct yarn_timer_terms terms = {.pid = getpid(), .period_ns = YARN_NS_PER_MS};
    struct yarn_timer_threads threads = {.terms = &terms, .data_bytes = RING_BYTES};
    struct yarn_record_listener listener = {.record = wait_at};
    pthread_t thread;
    yarn_arena_open(&arena, ARENA_BYTES);
    ck_assert_int_eq(pthread_create(&thread, NULL, sleep_on, NULL), 0);
    ck_assert_int_eq(yarn_timer_threads_open(&threads, &arena), 0);
    while (!nr_told) { /* while it is being made it blocks all signals */
        threads.next_scan_ns = 0;
        ck_assert_int_eq(yarn_timer_threads_scan(&threads, false, &listener), 0);
    }
    ck_assert_uint_lt(threads.next_scan_ns, yarn_clock_ns(YARN_TIME_MONOTONIC) + SOON_NS);
    yarn_timer_threads_quiet(&threads);
    ck_assert(yarn_timer_threads_wait(&threads));
    yarn_timer_threads_close(&threads);
    yarn_arena_close(&arena);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("timer threads");
    TCase *one = tcase_create("a host that keeps the reader waiting");
    tcase_add_test(one, scan_that_had_to_wait_does_not_put_the_next_off);
    suite_add_tcase(suite, one);
    return run_suite(suite);
}
