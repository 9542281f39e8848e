/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/sys/seccomp_probe.h"
#include "tests/support/suite.h"

/* Each test has a process of its own, which it may shut in. */
static void set_filter(uint32_t answer, long first, long second)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)first, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)second, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, answer),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = YARN_COUNT_OF(program), .filter = program};
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

START_TEST(probe_is_due_behind_a_filter_only)
{
    int before = yarn_seccomp_probe_is_due();
    ck_assert_int_ge(before, 0);
    ck_assert_int_eq(before, prctl(PR_GET_SECCOMP) != 0);
    set_filter(SECCOMP_RET_ERRNO | EPERM, SYS_mount, SYS_reboot);
    ck_assert_int_eq(yarn_seccomp_probe_is_due(), 1);
}
END_TEST

static const uint32_t deadly[] = {SECCOMP_RET_KILL_PROCESS, SECCOMP_RET_KILL_THREAD,
                                  SECCOMP_RET_TRAP};

START_TEST(calls_that_end_their_caller_are_named_by_what_they_are_for)
{
    struct yarn_seccomp_probe probe;
    set_filter(deadly[_i], SYS_perf_event_open, SYS_timer_settime);
    ck_assert_int_eq(yarn_seccomp_probe_run(&probe), 0);
    for (int part = 0; part < YARN_SECCOMP_PART_COUNT; part++)
        if (part == YARN_SECCOMP_PERF)
            ck_assert_pstr_eq(probe.deadly[part], "perf_event_open");
        else if (part == YARN_SECCOMP_TIMER)
            ck_assert_pstr_eq(probe.deadly[part], "timer_settime");
        else
            ck_assert_pstr_eq(probe.deadly[part], NULL);
}
END_TEST

START_TEST(what_few_recordings_need_takes_no_more_away)
{
    struct yarn_seccomp_probe probe;
    set_filter(SECCOMP_RET_KILL_PROCESS, SYS_bpf, SYS_setns);
    ck_assert_int_eq(yarn_seccomp_probe_run(&probe), 0);
    for (int part = 0; part < YARN_SECCOMP_PART_COUNT; part++)
        ck_assert_pstr_eq(probe.deadly[part], part == YARN_SECCOMP_BPF ? "bpf" : NULL);
}
END_TEST

START_TEST(nothing_else_is_tried_where_a_call_for_all_is_deadly)
{
    struct yarn_seccomp_probe probe;
    set_filter(SECCOMP_RET_KILL_PROCESS, SYS_getdents64, SYS_perf_event_open);
    ck_assert_int_eq(yarn_seccomp_probe_run(&probe), 0);
    ck_assert_pstr_eq(probe.deadly[YARN_SECCOMP_ALL], "getdents64");
    ck_assert_pstr_eq(probe.deadly[YARN_SECCOMP_PERF], NULL);
}
END_TEST

START_TEST(unshare_may_be_refused_or_deadly)
{
    struct yarn_seccomp_probe probe;
    set_filter(_i ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | EPERM, SYS_unshare, SYS_setns);
    ck_assert_int_eq(yarn_seccomp_probe_run(&probe), 0);
    ck_assert(probe.is_unshare_refused);
    ck_assert_pstr_eq(probe.deadly[YARN_SECCOMP_ALL], NULL);
}
END_TEST

/* In a child, for a sanitizer's end of a process makes one itself. */
START_TEST(child_that_cannot_be_made_is_an_error)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        struct yarn_seccomp_probe probe;
        set_filter(SECCOMP_RET_ERRNO | EAGAIN, SYS_clone, SYS_clone);
        _exit(-yarn_seccomp_probe_run(&probe));
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), EAGAIN);
}
END_TEST

START_TEST(host_sees_neither_child_nor_signal)
{
    struct yarn_seccomp_probe probe;
    sigset_t all, pending;
    sigfillset(&all);
    ck_assert_int_eq(sigprocmask(SIG_BLOCK, &all, NULL), 0);
    set_filter(SECCOMP_RET_KILL_PROCESS, SYS_perf_event_open, SYS_timer_settime);
    ck_assert_int_eq(yarn_seccomp_probe_run(&probe), 0);
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
    ck_assert_int_eq(sigpending(&pending), 0);
    for (int number = 1; number < NSIG; number++)
        ck_assert_int_ne(sigismember(&pending, number), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("seccomp_probe");
    TCase *tcase = tcase_create("behind a filter");
    tcase_add_test(tcase, probe_is_due_behind_a_filter_only);
    tcase_add_loop_test(tcase, calls_that_end_their_caller_are_named_by_what_they_are_for, 0,
                        YARN_COUNT_OF(deadly));
    tcase_add_test(tcase, what_few_recordings_need_takes_no_more_away);
    tcase_add_test(tcase, nothing_else_is_tried_where_a_call_for_all_is_deadly);
    tcase_add_loop_test(tcase, unshare_may_be_refused_or_deadly, 0, 2);
    tcase_add_test(tcase, child_that_cannot_be_made_is_an_error);
    tcase_add_test(tcase, host_sees_neither_child_nor_signal);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
