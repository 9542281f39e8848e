/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/pages.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/thread.h"
#include "tests/support/mappings.h"
#include "tests/support/suite.h"

#define LONG_NS (10 * YARN_NS_PER_SECOND)

enum { NOT_BORN, ALIVE, MAY_END };

static struct yarn_thread thread;
static _Atomic uint32_t step;

static void wait_until_it_lives(void)
{
    while (atomic_load(&step) == NOT_BORN)
        yarn_futex_wait(&step, NOT_BORN, LONG_NS);
}

static void let_end(void)
{
    atomic_store(&step, MAY_END);
    yarn_futex_wake(&step);
}

static int live_until_released(void *unused)
{
    (void)unused;
    atomic_store(&step, ALIVE);
    yarn_futex_wake(&step);
    while (atomic_load(&step) == ALIVE)
        yarn_futex_wait(&step, ALIVE, LONG_NS);
    return 0;
}

/* 0: all was well; else which was not. */
static int live_as_a_child(void)
{
    free(malloc(10000)); /* what stdio will want is mapped */
    size_t nr_before = nr_mappings(), total = yarn_pages_total();
    atomic_store(&step, NOT_BORN);
    if (yarn_thread_start_in_child(&thread, live_until_released, NULL, false))
        return 1;
    wait_until_it_lives();
    if (nr_mappings() != nr_before || yarn_pages_total() != total)
        return 2;
    yarn_thread_count_memory(&thread);
    if (yarn_pages_total() < total + YARN_KIB(256))
        return 3;
    let_end();
    if (yarn_thread_join(&thread, LONG_NS))
        return 4;
    yarn_thread_fini(&thread);
    return yarn_pages_total() == total && !thread.memory ? 0 : 5;
}

/* Its own child has the memory as it left it. */
static int live_and_fork(void)
{
    int status, result = live_as_a_child();
    pid_t child = result ? -1 : fork();
    if (!child)
        _exit(live_as_a_child());
    return child > 0 && waitpid(child, &status, 0) == child && !status ? result : 10 + result;
}

START_TEST(thread_of_a_child_maps_nothing)
{
    int status;
    ck_assert_int_eq(yarn_thread_start(&thread, live_until_released, NULL, false), 0);
    wait_until_it_lives();
    pid_t child = fork();
    if (!child)
        _exit(live_and_fork());
    let_end();
    ck_assert_int_eq(yarn_thread_join(&thread, LONG_NS), 0);
    yarn_thread_fini(&thread);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("thread of a child");
    TCase *tcase = tcase_create("after fork");
    tcase_add_test(tcase, thread_of_a_child_maps_nothing);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
