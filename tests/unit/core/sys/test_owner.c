/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/sys/owner.h"
#include "tests/support/suite.h"

/* What a task finds. */
enum { HAS_MEMORY = 1, IS_CALLER = 2 };

static int look(void)
{
    return (yarn_owner_has_memory() ? HAS_MEMORY : 0) | (yarn_owner_is_caller() ? IS_CALLER : 0);
}

static int found_by(pid_t child)
{
    int status;
    ck_assert_int_gt(child, 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void *look_in_thread(void *ret_found)
{
    *(int *)ret_found = look();
    return NULL;
}

static int leave_with_look(void *unused)
{
    (void)unused;
    _exit(look());
}

static pid_t clone_with(int flags)
{
    static char stack[64 * 1024] __attribute__((aligned(16)));
    return clone(leave_with_look, stack + sizeof stack, flags | SIGCHLD, NULL);
}

static void claim(void)
{
    ck_assert_int_eq(yarn_owner_claim(true), 0);
}

START_TEST(owner_is_nobody_before_the_claim)
{
    ck_assert_int_eq(look(), 0);
}
END_TEST

START_TEST(owner_is_each_thread_of_the_process)
{
    pthread_t thread;
    int found;
    claim();
    ck_assert_int_eq(look(), HAS_MEMORY | IS_CALLER);
    ck_assert_int_eq(pthread_create(&thread, NULL, look_in_thread, &found), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_int_eq(found, HAS_MEMORY | IS_CALLER);
}
END_TEST

START_TEST(owner_is_no_child_on_the_same_memory)
{
    claim();
    pid_t child = vfork();
    if (child == 0)
        _exit(look());
    ck_assert_int_eq(found_by(child), HAS_MEMORY);
    ck_assert_int_eq(found_by(clone_with(CLONE_VM)), HAS_MEMORY);
    ck_assert_int_eq(look(), HAS_MEMORY | IS_CALLER);
}
END_TEST

START_TEST(owner_is_no_copy_until_it_claims)
{
    claim();
    pid_t child = fork();
    if (child == 0) {
        int before = look();
        if (!yarn_owner_inherit() || yarn_owner_inherit())
            _exit(99);
        _exit(before << 4 | look());
    }
    ck_assert_int_eq(found_by(child), HAS_MEMORY | IS_CALLER);
    ck_assert_int_eq(found_by(clone_with(0)), 0);
    child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0)
        _exit(look());
    ck_assert_int_eq(found_by(child), 0);
    ck_assert_int_eq(look(), HAS_MEMORY | IS_CALLER);
}
END_TEST

/* By fork: the C library sets the list of its first thread, too. */
static int first_of_a_namespace(void)
{
    pid_t child = unshare(CLONE_NEWPID) ? -1 : fork();
    if (child)
        return found_by(child);
    if (getpid() != 1 || yarn_owner_claim(true))
        _exit(99);
    int found = found_by(clone_with(CLONE_NEWPID | CLONE_VM | CLONE_VFORK));
    _exit(found << 4 | look());
}

/* Both are process 1, thread 1. */
START_TEST(owner_is_no_child_of_the_same_number)
{
    if (geteuid()) {
        printf("skipped: only root may make a namespace of processes\n");
        return;
    }
    /* In a child: a process that has unshared the namespace gives LeakSanitizer no helper. */
    pid_t child = fork();
    if (child == 0)
        _exit(first_of_a_namespace());
    ck_assert_int_eq(found_by(child), HAS_MEMORY << 4 | HAS_MEMORY | IS_CALLER);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("owner");
    TCase *tcase = tcase_create("tasks of all kinds");
    tcase_add_test(tcase, owner_is_nobody_before_the_claim);
    tcase_add_test(tcase, owner_is_each_thread_of_the_process);
    tcase_add_test(tcase, owner_is_no_child_on_the_same_memory);
    tcase_add_test(tcase, owner_is_no_copy_until_it_claims);
    tcase_add_test(tcase, owner_is_no_child_of_the_same_number);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
