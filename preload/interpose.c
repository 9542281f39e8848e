/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions that the preload stands in front of. Each does what the original does,
 * by itself: there is no look-up of a next one that could fail.
 */
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "preload/exported.h"
#include "preload/lifecycle.h"

static _Noreturn void leave(int status)
{
    yarn_lifecycle_note_status(status);
    yarn_lifecycle_end();
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
