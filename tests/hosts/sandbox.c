/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox WAY: works, shuts itself in, works on and leaves. The filter lets through what this
 * program calls behind it and nothing else; everything else ends the process.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum {
    UNITS = 10,
    UNITS_BEHIND = 12 /* some flushes long */,
    CALLS_MAX = 32,
    NOBODY = 65534,
    SKIPPED = 77
};

static const int few_calls[] = {SYS_write, SYS_exit, SYS_exit_group, -1};
static const int thread_calls[] = {SYS_write,
                                   SYS_exit,
                                   SYS_exit_group,
                                   SYS_futex,
                                   SYS_munmap,
                                   SYS_madvise,
                                   SYS_rt_sigprocmask,
                                   SYS_rt_sigreturn,
                                   SYS_mmap,
                                   SYS_mprotect,
                                   SYS_rseq,
                                   SYS_clone3,
                                   SYS_clone,
                                   SYS_set_robust_list,
                                   -1};
static const int fork_calls[] = {SYS_write,           SYS_exit,           SYS_exit_group,
                                 SYS_clone,           SYS_wait4,          SYS_clone3,
                                 SYS_set_robust_list, SYS_rt_sigprocmask, -1};
static const int filter_calls[] = {SYS_write, SYS_exit, SYS_exit_group, SYS_seccomp, SYS_prctl, -1};
static const int rights_calls[] = {SYS_write, SYS_exit, SYS_exit_group, SYS_setuid, -1};
static const int raw_calls[] = {
    SYS_write,         SYS_exit,  SYS_exit_group,        SYS_getpid, SYS_get_robust_list,
    SYS_clock_gettime, SYS_futex, SYS_rt_tgsigqueueinfo, -1};

static volatile uint64_t result;

__attribute__((noinline)) static void work_before(uint64_t seed)
{
    result = yarn_host_work(UNITS, seed, 3);
}

__attribute__((noinline)) static void work_behind(uint64_t seed)
{
    result = yarn_host_work(UNITS_BEHIND, seed, 5);
}

static void say(const char *text)
{
    if (write(1, text, strlen(text)) < 0)
        _exit(3);
}

struct filter {
    struct sock_filter code[CALLS_MAX + 4];
    struct sock_fprog program;
};

static void make_filter(struct filter *filter, const int *calls, uint32_t otherwise)
{
    size_t nr = 0, nr_calls = 0;
    while (calls[nr_calls] >= 0)
        nr_calls++;
    filter->code[nr++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < nr_calls; i++)
        filter->code[nr++] = (struct sock_filter)BPF_JUMP(
            BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], (uint8_t)(nr_calls - i), 0);
    filter->code[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, otherwise);
    filter->code[nr++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter->program = (struct sock_fprog){.len = (unsigned short)nr, .filter = filter->code};
}

static void set_by_prctl(const int *calls, uint32_t otherwise)
{
    struct filter filter;
    make_filter(&filter, calls, otherwise);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter.program))
        _exit(SKIPPED);
}

/* With a listener the filter's own descriptor is what comes back. */
static void set_by_syscall(const int *calls, unsigned long flags)
{
    struct filter filter;
    bool has_listener = flags & SECCOMP_FILTER_FLAG_NEW_LISTENER;
    make_filter(&filter, calls, SECCOMP_RET_KILL_PROCESS);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _exit(SKIPPED);
    long returned = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &filter.program);
    if (has_listener ? returned <= 0 : returned != 0)
        _exit(SKIPPED);
}

/* The system call itself, which no library sees. */
static long call_raw(long number, long a, long b, long c)
{
#if defined(__x86_64__)
    long value;
    __asm__ volatile("syscall"
                     : "=a"(value)
                     : "0"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return value;
#else
    (void)number, (void)a, (void)b, (void)c;
    _exit(SKIPPED);
#endif
}

static void set_raw(unsigned long flags)
{
    struct filter filter;
    make_filter(&filter, raw_calls, SECCOMP_RET_KILL_PROCESS);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        call_raw(SYS_seccomp, SECCOMP_SET_MODE_FILTER, (long)flags, (long)&filter.program))
        _exit(SKIPPED);
}

static void *work_beside(void *unused)
{
    work_before(3);
    work_behind(4);
    return unused;
}

static void with_threads(void (*shut)(void))
{
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work_beside, NULL))
            _exit(3);
    work_before(1);
    shut();
    work_behind(2);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

static void shut_all(void)
{
    set_by_syscall(thread_calls, SECCOMP_FILTER_FLAG_TSYNC);
}

static void shut_main(void)
{
    set_by_prctl(thread_calls, SECCOMP_RET_KILL_PROCESS);
}

/* Of it and its child, or of the child alone, as the first thing that it does. */
static void have_child(bool is_filter_of_child)
{
    if (!is_filter_of_child)
        set_by_prctl(fork_calls, SECCOMP_RET_KILL_PROCESS);
    pid_t child = fork();
    if (child == 0) {
        if (is_filter_of_child)
            set_by_prctl(few_calls, SECCOMP_RET_KILL_PROCESS);
        work_behind(7);
        exit(5);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        _exit(3);
    say(WIFEXITED(status) && WEXITSTATUS(status) == 5 ? "child: 5\n" : "child: otherwise\n");
    work_behind(2);
}

/* A library that asks what the kernel knows, and a filter that cannot be. */
static void fail(void)
{
    struct filter filter;
    bool is_good = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, NULL) &&
                   errno == EFAULT;
    make_filter(&filter, few_calls, SECCOMP_RET_KILL_PROCESS);
    filter.program.len = 0;
    is_good =
        is_good &&
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter.program) &&
        errno == EINVAL;
    is_good = is_good && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL) && errno == EFAULT;
    is_good = is_good && prctl(PR_SET_SECCOMP, 17, NULL) && errno == EINVAL;
    say(is_good ? "refused as expected\n" : "not refused\n");
    work_behind(2);
}

/* Every word of a call arrives, and its errno comes back. */
static void call_much(void)
{
    enum { BYTES = 1 << 16 };
    long page =
        syscall(SYS_mmap, NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    long bad = syscall(SYS_mmap, NULL, BYTES, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 1L);
    say(page != -1 && bad == -1 && errno == EINVAL ? "six words\n" : "not six words\n");
    errno = 0;
    say(syscall(SYS_close, -1) == -1 && errno == EBADF ? "one word\n" : "not one word\n");
    pid_t child = (pid_t)syscall(SYS_clone, 17L, 0L, 0L, 0L, 0L);
    if (child == 0)
        _exit(9);
    int status;
    bool is_good = waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 9;
    say(is_good ? "clone\n" : "no clone\n");
    say(syscall(SYS_prctl, PR_GET_DUMPABLE, 0, 0, 0, 0) >= 0 ? "prctl\n" : "no prctl\n");
    for (int i = 0; i < 100000; i++)
        syscall(SYS_getppid);
    work_behind(2);
}

static int leave_raw(const char *way)
{
    if (!strcmp(way, "strict"))
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    else
        syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 0, NULL);
    work_behind(2);
    say("strict\n");
    if (!strcmp(way, "strict-killed"))
        syscall(SYS_getppid);
    syscall(SYS_exit, 6);
    return 0;
}

static bool shut_in(const char *way)
{
    if (!strcmp(way, "prctl") || !strncmp(way, "killed", 6)) {
        bool is_thread = !strcmp(way, "killed-thread");
        set_by_prctl(few_calls, is_thread ? SECCOMP_RET_KILL_THREAD : SECCOMP_RET_KILL_PROCESS);
    } else if (!strcmp(way, "syscall")) {
        set_by_syscall(few_calls, 0);
    } else if (!strcmp(way, "listener")) {
        set_by_syscall(few_calls, SECCOMP_FILTER_FLAG_NEW_LISTENER);
    } else if (!strcmp(way, "tsync")) {
        set_by_syscall(few_calls, SECCOMP_FILTER_FLAG_TSYNC);
    } else if (!strcmp(way, "twice")) {
        set_by_prctl(filter_calls, SECCOMP_RET_KILL_PROCESS);
        work_behind(1);
        set_by_syscall(few_calls, SECCOMP_FILTER_FLAG_TSYNC);
    } else if (!strcmp(way, "setuid")) {
        set_by_prctl(rights_calls, SECCOMP_RET_KILL_PROCESS);
        if (setuid(NOBODY))
            _exit(3);
    } else if (!strcmp(way, "raw")) {
        set_raw(0);
    } else if (!strcmp(way, "raw-tsync")) {
        set_raw(SECCOMP_FILTER_FLAG_TSYNC);
    } else {
        return false;
    }
    return true;
}

int main(int argc, char *argv[])
{
    const char *way = argc > 1 ? argv[1] : "";
    if (!strcmp(way, "threads-all")) {
        with_threads(shut_all);
    } else if (!strcmp(way, "threads-main")) {
        with_threads(shut_main);
    } else {
        work_before(1);
        if (!strncmp(way, "strict", 6))
            return leave_raw(way);
        if (!strcmp(way, "fork") || !strcmp(way, "child"))
            have_child(!strcmp(way, "child"));
        else if (!strcmp(way, "fail"))
            fail();
        else if (!strcmp(way, "calls"))
            call_much();
        else if (shut_in(way))
            work_behind(2);
        else
            return 2;
    }
    say("done\n");
    if (!strncmp(way, "killed", 6))
        syscall(SYS_getppid);
    return !strcmp(way, "prctl") ? 4 : 0;
}
