/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

#include "core/sys/file.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"
#include "core/sys/thread_end.h"
#include "tests/support/suite.h"

#define LONG_NS (60 * YARN_NS_PER_SECOND)

static struct yarn_thread_end end;
static pid_t tid;
static _Atomic uint32_t is_known, may_leave, own;
static pthread_t thread;

static void *live(void *unused)
{
    end = yarn_thread_end_of_caller();
    tid = yarn_process_tid();
    atomic_store(&is_known, 1);
    yarn_futex_wake(&is_known);
    while (!atomic_load(&may_leave))
        yarn_futex_wait(&may_leave, 0, LONG_NS);
    return unused;
}

static void begin(void)
{
    atomic_store(&own, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, live, NULL), 0);
    while (!atomic_load(&is_known))
        yarn_futex_wait(&is_known, 0, LONG_NS);
    ck_assert_ptr_nonnull(end.word);
    ck_assert_uint_eq(end.value, (uint32_t)tid);
    ck_assert(!yarn_thread_end_is_past(&end));
}

static void let_leave(void)
{
    atomic_store(&may_leave, 1);
    yarn_futex_wake(&may_leave);
}

START_TEST(a_wait_ends_with_the_thread)
{
    begin();
    ck_assert_int_eq(yarn_thread_end_wait(&end, &own, YARN_NS_PER_MS), -ETIMEDOUT);
    let_leave();
    while (yarn_thread_end_wait(&end, &own, LONG_NS) == -EINTR)
        continue;
    ck_assert(yarn_thread_end_is_past(&end));
    pthread_join(thread, NULL);
}
END_TEST

START_TEST(who_joins_it_is_woken_all_the_same)
{
    begin();
    let_leave();
    yarn_thread_end_wait(&end, &own, LONG_NS);
    ck_assert(yarn_thread_end_is_past(&end));
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

START_TEST(a_wait_ends_with_the_own_word)
{
    begin();
    atomic_store(&own, 1);
    ck_assert_int_eq(yarn_thread_end_wait(&end, &own, LONG_NS), -EAGAIN);
    ck_assert(!yarn_thread_end_is_past(&end));
    let_leave();
    pthread_join(thread, NULL);
}
END_TEST

/* As the stack of a thread that was detached. */
START_TEST(memory_that_has_gone_is_the_end_too)
{
    const struct yarn_thread_end gone = {.word = (_Atomic uint32_t *)(uintptr_t)4096, .value = 1};
    ck_assert_int_eq(yarn_thread_end_wait(&gone, &own, LONG_NS), -EFAULT);
    ck_assert(yarn_thread_end_is_past(&gone));
}
END_TEST

START_TEST(a_descriptor_is_readable_after_the_end)
{
    begin();
    struct pollfd watched = {.fd = yarn_thread_end_open(tid), .events = POLLIN};
    if (watched.fd >= 0)
        ck_assert_int_eq(poll(&watched, 1, 0), 0);
    let_leave();
    if (watched.fd >= 0)
        ck_assert_int_eq(poll(&watched, 1, (int)(LONG_NS / YARN_NS_PER_MS)), 1);
    else
        ck_assert_int_eq(watched.fd, -EINVAL);
    yarn_file_close(watched.fd);
    pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thread_end");
    TCase *ends = tcase_create("a thread that lives as long as it has to");
    tcase_add_test(ends, a_wait_ends_with_the_thread);
    tcase_add_test(ends, who_joins_it_is_woken_all_the_same);
    tcase_add_test(ends, a_wait_ends_with_the_own_word);
    tcase_add_test(ends, memory_that_has_gone_is_the_end_too);
    tcase_add_test(ends, a_descriptor_is_readable_after_the_end);
    suite_add_tcase(suite, ends);
    return run_suite(suite);
}
