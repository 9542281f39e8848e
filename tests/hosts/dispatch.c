/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dispatch WAY [FILE]: works, then has the kernel send it SIGSYS for each system call that is not
 * made by the C library's own code (Syscall User Dispatch), which it does not handle, and goes on
 * in the way that is asked for: each calls what libraries of ours may stand in front of.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { UNITS = 5, UNITS_AFTER = 4, SKIPPED = 77, STATUS = 6, STACK_BYTES = 64 * 1024 };

/* Of <linux/prctl.h>, which the C library's header has only in part. */
enum { DISPATCH = 59, DISPATCH_ON = 1 };
static volatile char selector = 1; /* SYSCALL_DISPATCH_FILTER_BLOCK */
static unsigned long text, text_bytes;
static volatile uint64_t result;

static int find_text(struct dl_phdr_info *info, size_t size, void *name)
{
    (void)size;
    for (int i = 0; strstr(info->dlpi_name, name) && i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            text = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            text_bytes = info->dlpi_phdr[i].p_memsz;
        }
    return 0;
}

__attribute__((noinline)) static void work_before(void)
{
    result = yarn_host_work(UNITS, 1, 3);
}

__attribute__((noinline)) static void work_after(void)
{
    result = yarn_host_work(UNITS_AFTER, 2, 5);
}

static void say(const char *what)
{
    if (write(1, what, strlen(what)) < 0)
        _exit(3);
}

static int shut(const char *way)
{
    if (strstr(way, "number"))
        return (int)syscall(SYS_prctl, DISPATCH, DISPATCH_ON, text, text_bytes, &selector);
    return prctl(DISPATCH, DISPATCH_ON, text, text_bytes, &selector);
}

static void *be_thread(void *way)
{
    work_after();
    return way;
}

static void *be_shut_thread(void *way)
{
    if (shut(way))
        _exit(SKIPPED);
    work_after();
    return way;
}

static void have_thread(void *(*run)(void *), const char *way)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)(uintptr_t)way) || pthread_join(thread, NULL))
        _exit(3);
    say("joined\n");
}

static void wait_for(pid_t child)
{
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        _exit(3);
    say(WIFEXITED(status) && WEXITSTATUS(status) == STATUS ? "child\n" : "child: otherwise\n");
}

static void have_child(void)
{
    pid_t child = fork();
    if (!child) {
        work_after();
        _exit(STATUS);
    }
    wait_for(child);
}

static int leave_shut(void *way)
{
    if (shut(way))
        _exit(SKIPPED);
    execl("/nowhere", "nowhere", (char *)NULL);
    _exit(STATUS);
}

/* On this memory: what it is forbidden must not be done in this process either. */
static void have_child_on_memory(const char *way)
{
    static _Alignas(16) char stack[STACK_BYTES];
    wait_for(clone(leave_shut, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD,
                   (void *)(uintptr_t)way));
}

/* The C library's functions that are often wrapped. */
static void call_much(void)
{
    static char stack[STACK_BYTES];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    bool is_good = !sigaltstack(&alternate, NULL) && !setuid(getuid()) && !setgid(getgid()) &&
                   !seteuid(geteuid()) && !setresuid(getuid(), getuid(), getuid());
    is_good &= !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) && !syscall(SYS_setresuid, -1, -1, -1);
    is_good &= unshare(0) == 0 && setns(-1, 0) == -1 && errno == EBADF;
    is_good &= chroot("/nowhere") == -1 && syscall(SYS_chroot, "/nowhere") == -1;
    is_good &= execl("/nowhere", "nowhere", (char *)NULL) == -1 && errno == ENOENT;
    is_good &= execvp("nowhere-at-all", (char *[]){(char[]){"x"}, NULL}) == -1;
    say(is_good ? "much\n" : "not so much\n");
}

/* Nothing is forbidden by a call that fails. */
static void fail(void)
{
    bool is_refused = prctl(DISPATCH, DISPATCH_ON, text, text_bytes, (char *)UINTPTR_MAX) == -1 &&
                      errno == EFAULT && prctl(DISPATCH, 17, 0, 0, 0) == -1 && errno == EINVAL;
    say(is_refused ? "refused\n" : "not refused\n");
}

int main(int argc, char *argv[])
{
    const char *way = argc > 1 ? argv[1] : "";
    dl_iterate_phdr(find_text, (char[]){"libc.so"});
    work_before();
    if (strstr(way, "memory"))
        have_child_on_memory(way);
    else if (strstr(way, "one"))
        have_thread(be_shut_thread, way);
    else if (strstr(way, "fail"))
        fail();
    else if (shut(way))
        return SKIPPED;
    work_after();
    if (strstr(way, "fork"))
        have_child();
    if (strstr(way, "thread"))
        have_thread(be_thread, way);
    if (strstr(way, "much"))
        call_much();
    if (strstr(way, "twice") && shut(way))
        return 3;
    if (strstr(way, "exec"))
        execl("/bin/echo", "echo", "executed", (char *)NULL);
    say("done\n");
    if (strstr(way, "number"))
        syscall(SYS_exit_group, STATUS);
    if (strstr(way, "quick"))
        quick_exit(STATUS);
    if (strstr(way, "_exit"))
        _exit(STATUS);
    return STATUS;
}
