/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `slowstart MS HITS [LATER]`: a child that touches so many new pages and ends, or LATER ms later.
 * Its first thread that it did not make, the reader's, is stopped at its birth for so long, as a
 * debugger does and a busy machine may do; status 77 where the kernel does not permit that.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/pages.h"

enum { SKIPPED = 77, EVENT_SHIFT = 16 };

static void pause_for(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* A thread that stops for the first time, and is not the first of its process. */
static bool is_born(pid_t tid, int status)
{
    return status >> EVENT_SHIFT == PTRACE_EVENT_STOP && syscall(SYS_tgkill, tid, tid, 0);
}

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All others go on meanwhile: who makes a thread stops, too, and perhaps after that one. */
static int trace(pid_t host, int report_fd, long ms)
{
    int status;
    long end_ms = 0;
    pid_t tid, held = 0;
    if (ptrace(PTRACE_SEIZE, host, 0, PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE))
        return SKIPPED;
    if (write(report_fd, "s", 1) != 1)
        return EXIT_FAILURE;
    while ((tid = waitpid(-1, &status, __WALL | (held ? WNOHANG : 0))) >= 0) {
        if (tid && WIFSTOPPED(status) && is_born(tid, status) && !end_ms) {
            held = tid;
            end_ms = now_ms() + ms;
        } else if (tid && WIFSTOPPED(status)) {
            ptrace(PTRACE_CONT, tid, 0, status >> EVENT_SHIFT ? 0 : WSTOPSIG(status));
        } else if (held && now_ms() >= end_ms) {
            ptrace(PTRACE_CONT, held, 0, 0);
            held = 0;
        } else if (!tid) {
            pause_for(1);
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    int fds[2];
    char byte = 0;
    pid_t host = getpid();
    long hits = argc > 2 ? strtol(argv[2], NULL, 10) : 1;
    if (pipe(fds))
        return EXIT_FAILURE;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    /* By the instruction: not recorded. */
    pid_t tracer = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (tracer == 0) {
        close(fds[0]);
        syscall(SYS_exit_group, trace(host, fds[1], strtol(argv[1], NULL, 10)));
    }
    close(fds[1]);
    if (read(fds[0], &byte, 1) != 1)
        return SKIPPED;
    pid_t child = fork();
    if (child == 0) {
        touch(hits);
        pause_for(argc > 3 ? strtol(argv[3], NULL, 10) : 0);
        _exit(0);
    }
    return waitpid(child, NULL, 0) == child ? 0 : EXIT_FAILURE;
}
