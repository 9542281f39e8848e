/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * daemon, whose parent ends inside the C library, where that cannot be seen: the recording ends
 * before. Its child, like that of fork and forkpty, tells us by the handler that the constructor
 * gives pthread_atfork. A child of vfork, posix_spawn, system and popen shares our memory until its
 * exec, and no handler runs in it, nor in one of _Fork.
 */
#include <unistd.h>

#include "preload/calls/exported.h"
#include "preload/calls/originals.h"
#include "preload/control/lifecycle.h"

typedef int (*daemon_fn)(int nochdir, int noclose);

YARN_EXPORTED int daemon(int nochdir, int noclose)
{
    daemon_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_daemon, &next, sizeof next))
        return -1;
    yarn_lifecycle_end(0);
    return next(nochdir, noclose);
}
