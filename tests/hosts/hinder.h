/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stops, as a debugger does, the one task of a host of one thread that the host did not make: what
 * a busy machine may do to the reader at any moment, only for as long as a test wants. The host
 * goes on meanwhile. Without such a task nothing is done.
 */
#pragma once

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { YARN_HINDER_LOOK_MS = 10, YARN_HINDER_TASKS = 100000 };

/* Not by a list of /proc/PID/task: its descriptor would be a thing kept, too. */
static pid_t yarn_hinder_find(pid_t host)
{
    for (pid_t tid = host + 1; tid < host + YARN_HINDER_TASKS; tid++)
        if (!syscall(SYS_tgkill, host, tid, 0))
            return tid;
    return 0;
}

/* Until the time is over or the host has ended. */
static bool yarn_hinder_hold(pid_t tid, int report_fd, int ms)
{
    int status;
    if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0) ||
        waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
        return false;
    if (write(report_fd, "s", 1) != 1)
        return false;
    for (close(report_fd); ms > 0; ms -= YARN_HINDER_LOOK_MS) {
        poll(NULL, 0, YARN_HINDER_LOOK_MS);
        if (waitpid(tid, &status, __WALL | WNOHANG))
            return true;
    }
    ptrace(PTRACE_DETACH, tid, 0, 0);
    return true;
}

/* False where the kernel does not permit it. Its child is reaped by nobody. */
static bool yarn_hinder_reader(int ms)
{
    int fds[2];
    char byte = 0;
    pid_t host = getpid();
    if (pipe(fds))
        return false;
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
    /* By the instruction: not recorded. */
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (child == 0) {
        close(0);
        close(1);
        close(2);
        pid_t tid = yarn_hinder_find(host);
        if (!tid && write(fds[1], "n", 1) != 1)
            syscall(SYS_exit_group, 1);
        syscall(SYS_exit_group, tid && !yarn_hinder_hold(tid, fds[1], ms));
    }
    close(fds[1]);
    bool is_done = child > 0 && read(fds[0], &byte, 1) == 1;
    close(fds[0]);
    return is_done;
}
