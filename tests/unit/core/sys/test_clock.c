/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/sys/clock.h"
#include "tests/support/suite.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static const struct {
    enum yarn_time_source source;
    clockid_t id;
} rows[] = {
    {YARN_TIME_MONOTONIC, CLOCK_MONOTONIC},
    {YARN_TIME_MONOTONIC_RAW, CLOCK_MONOTONIC_RAW},
    {YARN_TIME_BOOTTIME, CLOCK_BOOTTIME},
    {YARN_TIME_REALTIME, CLOCK_REALTIME},
    {YARN_TIME_THREAD_CPU, CLOCK_THREAD_CPUTIME_ID},
    {YARN_TIME_PROCESS_CPU, CLOCK_PROCESS_CPUTIME_ID},
};
_Static_assert(YARN_COUNT_OF(rows) == YARN_TIME_COUNT, "a row for each clock");

static uint64_t libc_ns(clockid_t id)
{
    struct timespec now;
    ck_assert_int_eq(clock_gettime(id, &now), 0);
    return (uint64_t)now.tv_sec * YARN_NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

START_TEST(clock_shows_the_time_of_its_source)
{
    uint64_t before = libc_ns(rows[_i].id);
    uint64_t now = yarn_clock_ns(rows[_i].source);
    uint64_t after = libc_ns(rows[_i].id);
    ck_assert_uint_ne(now, 0);
    ck_assert_uint_le(before, now);
    ck_assert_uint_le(now, after);
}
END_TEST

START_TEST(clock_leaves_errno_alone)
{
    errno = 1234;
    ck_assert_uint_ne(yarn_clock_ns(YARN_TIME_MONOTONIC), 0);
    ck_assert_int_eq(errno, 1234);
}
END_TEST

START_TEST(time_of_others_is_not_that_of_the_caller)
{
    uint64_t before = yarn_clock_cpu_ns_of_others(), begin = libc_ns(CLOCK_THREAD_CPUTIME_ID);
    while (libc_ns(CLOCK_THREAD_CPUTIME_ID) - begin < 20 * YARN_NS_PER_MS)
        ;
    ck_assert_uint_lt(yarn_clock_cpu_ns_of_others() - before, 5 * YARN_NS_PER_MS);
}
END_TEST

START_TEST(without_the_process_clock_nobody_has_used_any)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CLOCK_PROCESS_CPUTIME_ID, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
    };
    struct sock_fprog filter = {.len = YARN_COUNT_OF(program), .filter = program};
    ck_assert_int_eq(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ck_assert_int_eq(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
    ck_assert_uint_eq(yarn_clock_ns(YARN_TIME_PROCESS_CPU), 0);
    ck_assert_uint_eq(yarn_clock_cpu_ns_of_others(), 0);
}
END_TEST

/* What is expected is the machine's clock before the namespace; in a child, which is then in it. */
START_TEST(clock_knows_no_offset_of_a_time_namespace)
{
    enum { AHEAD_SECONDS = 100000 };
    int fd = -1, status;
    if (unshare(CLONE_NEWTIME) || (fd = open("/proc/self/timens_offsets", O_WRONLY)) < 0) {
        printf("skipped: no time namespace may be made (%s)\n", strerror(errno));
        return;
    }
    ck_assert_int_gt(dprintf(fd, "monotonic %d 500000000", _i ? -10 : AHEAD_SECONDS), 0);
    close(fd);
    /* Its children would be in it, itself is not. */
    yarn_clock_enter_namespace();
    uint64_t before = libc_ns(CLOCK_MONOTONIC);
    ck_assert_uint_ge(yarn_clock_ns(YARN_TIME_MONOTONIC), before);
    pid_t child = fork();
    if (!child) {
        yarn_clock_enter_namespace();
        uint64_t now = yarn_clock_ns(YARN_TIME_MONOTONIC);
        bool is_offset = libc_ns(CLOCK_MONOTONIC) - before > 5 * YARN_NS_PER_SECOND;
        _exit(is_offset && now >= before && now - before < 5 * YARN_NS_PER_SECOND ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("clock");
    TCase *tcase = tcase_create("clocks");
    tcase_add_loop_test(tcase, clock_shows_the_time_of_its_source, 0, YARN_TIME_COUNT);
    tcase_add_test(tcase, clock_leaves_errno_alone);
    tcase_add_test(tcase, time_of_others_is_not_that_of_the_caller);
    tcase_add_test(tcase, without_the_process_clock_nobody_has_used_any);
    tcase_add_loop_test(tcase, clock_knows_no_offset_of_a_time_namespace, 0, 2);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
