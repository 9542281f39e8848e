/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>

#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "tests/support/suite.h"

typedef int wait_fn(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);
static wait_fn *const waits[] = {yarn_futex_wait, yarn_futex_wait_shared};

static _Atomic uint32_t word;

static uint64_t now_ns(void)
{
    return yarn_clock_ns(YARN_TIME_MONOTONIC);
}

START_TEST(futex_wait_on_another_value_returns_at_once)
{
    atomic_store(&word, 5);
    uint64_t begin = now_ns();
    ck_assert_int_eq(waits[_i](&word, 4, 10 * YARN_NS_PER_SECOND), 0);
    ck_assert_uint_lt(now_ns() - begin, 5 * YARN_NS_PER_SECOND);
}
END_TEST

START_TEST(futex_wait_times_out_not_before_its_time)
{
    static const uint64_t timeouts[] = {0, 1, 20 * YARN_NS_PER_MS, 1001 * YARN_NS_PER_MS};
    atomic_store(&word, 5);
    errno = 1234;
    for (size_t i = 0; i < YARN_COUNT_OF(timeouts); i++) {
        uint64_t begin = now_ns();
        ck_assert_int_eq(waits[_i](&word, 5, timeouts[i]), -ETIMEDOUT);
        ck_assert_uint_ge(now_ns() - begin, timeouts[i]);
    }
    ck_assert_int_eq(errno, 1234);
}
END_TEST

static void *wake_when_asked(void *argument)
{
    (void)argument;
    while (atomic_load(&word) != 1)
        (void)yarn_futex_wait(&word, 0, YARN_NS_PER_MS);
    atomic_store(&word, 2);
    yarn_futex_wake(&word);
    return NULL;
}

START_TEST(futex_wake_ends_a_wait_without_end)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, wake_when_asked, NULL), 0);
    atomic_store(&word, 1);
    while (atomic_load(&word) == 1)
        ck_assert_int_eq(yarn_futex_wait(&word, 1, UINT64_MAX), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(futex_wait_on_nothing_is_an_error)
{
    ck_assert_int_eq(waits[_i](NULL, 0, 0), -EFAULT);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("futex");
    TCase *tcase = tcase_create("a word of memory");
    tcase_add_loop_test(tcase, futex_wait_on_another_value_returns_at_once, 0, 2);
    tcase_add_loop_test(tcase, futex_wait_times_out_not_before_its_time, 0, 2);
    tcase_add_test(tcase, futex_wake_ends_a_wait_without_end);
    tcase_add_loop_test(tcase, futex_wait_on_nothing_is_an_error, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
