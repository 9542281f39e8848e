/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions that end a process. Those that only make a system call do so by its
 * syscall, for the host may let nobody else make one; before the constructor by themselves. And
 * daemon, whose parent ends inside the C library, where that cannot be seen: the recording ends
 * before. Its child, like that of fork and forkpty, is noticed by the handler that the constructor
 * gives pthread_atfork. A child of vfork, posix_spawn, system and popen shares our memory until its
 * exec, and no handler runs in it, nor in one of _Fork.
 */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/raw.h"
#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"

static _Noreturn void leave(int status)
{
    yarn_lifecycle_end(status);
    if (yarn_syscall_next)
        ((__typeof__(&syscall))yarn_syscall_next)(SYS_exit_group, status);
    for (;;)
        yarn_raw_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
}

YARN_EXPORTED _Noreturn void _exit(int status)
{
    leave(status);
}

YARN_EXPORTED _Noreturn void _Exit(int status)
{
    leave(status);
}

static int quick_exit_status = -1;

void yarn_interpose_end_quickly(void *unused)
{
    (void)unused;
    yarn_lifecycle_end(quick_exit_status);
}

/* Its end is our handler, which does not get the status. */
YARN_EXPORTED _Noreturn void quick_exit(int status)
{
    __typeof__(&quick_exit) next = YARN_ORIGINAL(quick_exit);
    quick_exit_status = status;
    if (next)
        next(status);
    leave(status);
}

YARN_EXPORTED int daemon(int nochdir, int noclose)
{
    __typeof__(&daemon) next = YARN_ORIGINAL(daemon);
    if (!next)
        return -1;
    yarn_lifecycle_end(0);
    return next(nochdir, noclose);
}
