/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions that end a process. Those that only make a system call do so by
 * themselves: there is no look-up of a next one that could fail.
 */
#include "preload/calls/interpose.h"

#include <sys/syscall.h>

#include "core/base/raw.h"
#include "preload/calls/exported.h"
#include "preload/calls/originals.h"
#include "preload/control/lifecycle.h"

static _Noreturn void leave(int status)
{
    yarn_lifecycle_end(status);
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

/* Its end is our handler, which is not told the status. */
YARN_EXPORTED _Noreturn void quick_exit(int status)
{
    void (*next)(int status);
    quick_exit_status = status;
    if (yarn_original_find(YARN_ORIGINAL_quick_exit, &next, sizeof next))
        next(status);
    leave(status);
}
