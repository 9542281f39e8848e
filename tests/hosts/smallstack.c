/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Says how much stack calls take, each made on a stack of its own that was painted before: `NAME
 * BYTES`. Those that do not return are made in a child, whose stack is shared.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { BYTES = 65536, PAINT = 0x5a, UNITS = 10 };

static volatile uint64_t consumed;

static void consume(uint64_t value)
{
    consumed = value;
}

static void end(void)
{
    _exit(0);
}

static void become(void)
{
    execl("/bin/true", "true", (char *)NULL);
    _exit(1);
}

static void fail_to_become(void)
{
    execl("/no/such/file", "file", (char *)NULL);
}

static void take_ids(void)
{
    if (setuid(getuid()) || setgid(getgid()))
        abort();
}

static void take_all_ids(void)
{
    if (setresuid(getuid(), geteuid(), geteuid()))
        abort();
}

static void control(void)
{
    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static void leave_files(void)
{
    if (unshare(CLONE_FS))
        abort();
}

static const struct {
    const char *name;
    void (*call)(void);
    int is_in_child;
} calls[] = {
    {"setuid", take_ids, 0},     {"setresuid", take_all_ids, 0},     {"prctl", control, 0},
    {"unshare", leave_files, 0}, {"execl-fails", fail_to_become, 0}, {"execl", become, 1},
    {"_exit", end, 1},
};

static void call_on(unsigned char *stack, void (*call)(void))
{
    static ucontext_t here, there;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = BYTES;
    there.uc_link = &here;
    makecontext(&there, call, 0);
    swapcontext(&here, &there);
}

int main(void)
{
    unsigned char *stack =
        mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return 1;
    consume(yarn_host_work(UNITS, 1, 1));
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        size_t untouched = 0;
        memset(stack, PAINT, BYTES);
        pid_t child = calls[i].is_in_child ? fork() : 0;
        if (child < 0)
            return 1;
        if (!child && calls[i].is_in_child)
            consume(yarn_host_work(UNITS, 1, 1));
        if (!child)
            call_on(stack, calls[i].call);
        if (child)
            waitpid(child, NULL, 0);
        while (untouched < BYTES && stack[untouched] == PAINT)
            untouched++;
        printf("%s %zu\n", calls[i].name, BYTES - untouched);
        fflush(stdout);
    }
    return 0;
}
