/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `owner`: children on this program's memory and on copies of it, each once by _exit, by exec, and
 * by an exec that fails; as root each once more as the first process of a PID namespace. They must
 * leave this program's recording as it is. What it prints is the same in every run.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { STACK_BYTES = 256 * 1024 };
enum end { EXIT, EXEC, FAILED_EXEC, END_COUNT };

extern char **environ;

__attribute__((noinline)) static void own_work(uint64_t nr_units)
{
    printf("own: %016" PRIx64 "\n", yarn_host_work(nr_units, 1, 3));
    fflush(stdout);
}

static int leave(void *argument)
{
    const enum end *end = argument;
    char *const argv[] = {"true", NULL};
    if (*end == EXEC)
        execve("/bin/true", argv, environ);
    if (*end == FAILED_EXEC)
        execve("/etc/passwd", argv, environ);
    _exit(3);
}

static int status_of(pid_t child)
{
    int status = 0;
    if (child < 0 || waitpid(child, &status, __WALL) != child) {
        perror("child");
        exit(EXIT_FAILURE);
    }
    return status;
}

static void by_clone(const char *name, int flags)
{
    static char stack[STACK_BYTES] __attribute__((aligned(16)));
    for (enum end end = EXIT; end < END_COUNT; end++)
        printf("%s: %x\n", name,
               (unsigned)status_of(clone(leave, stack + sizeof stack, flags | SIGCHLD, &end)));
}

static void by_vfork(void)
{
    for (volatile enum end end = EXIT; end < END_COUNT; end++) {
        pid_t child = vfork();
        if (child == 0) {
            enum end own = end;
            leave(&own);
        }
        printf("vfork: %x\n", (unsigned)status_of(child));
    }
}

/* The instruction itself, as Go's and others' own code does it. */
static void by_instruction(void)
{
    for (enum end end = EXIT; end < END_COUNT; end++) {
        pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child == 0)
            leave(&end);
        printf("instruction: %x\n", (unsigned)status_of(child));
    }
}

static void by_spawn(void)
{
    pid_t child;
    char *const argv[] = {"true", NULL};
    int err = posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ);
    printf("spawn: %x\n", err ? (unsigned)err : (unsigned)status_of(child));
}

static void by_fork(void)
{
    for (enum end end = EXIT; end < END_COUNT; end++) {
        pid_t child = fork();
        if (child == 0)
            leave(&end);
        printf("fork: %x\n", (unsigned)status_of(child));
    }
}

static void *rest(void *unused)
{
    pause();
    return unused;
}

int main(void)
{
    pthread_t thread;
    own_work(20);
    if (pthread_create(&thread, NULL, rest, NULL))
        return EXIT_FAILURE;
    by_vfork();
    by_clone("shared", CLONE_VM);
    by_clone("shared, waited for", CLONE_VM | CLONE_VFORK);
    by_clone("copied", 0);
    by_instruction();
    by_spawn();
    by_fork();
    if (geteuid() == 0) {
        by_clone("namespace, shared", CLONE_NEWPID | CLONE_VM);
        by_clone("namespace, shared, waited for", CLONE_NEWPID | CLONE_VM | CLONE_VFORK);
        by_clone("namespace, copied", CLONE_NEWPID);
    }
    own_work(20);
    exit(4);
}
