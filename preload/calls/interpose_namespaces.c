/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions by which a process leaves its root or its namespaces. Those by which it
 * leaves its folder are left alone: the reader is where the host is, and dumps have whole paths.
 */
#include <sched.h>
#include <unistd.h>

#include "preload/calls/exported.h"
#include "preload/calls/originals.h"
#include "preload/control/lifecycle.h"

typedef int (*path_fn)(const char *path);
typedef int (*flags_fn)(int flags);
typedef int (*namespace_fn)(int fd, int kind);

YARN_EXPORTED int chroot(const char *path)
{
    path_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_chroot, &next, sizeof next))
        return -1;
    struct yarn_lifecycle_change change = yarn_lifecycle_begin_change(YARN_CHANGE_ROOT);
    return yarn_lifecycle_end_change(&change, next(path));
}

YARN_EXPORTED int unshare(int flags)
{
    flags_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_unshare, &next, sizeof next))
        return -1;
    struct yarn_lifecycle_change change =
        yarn_lifecycle_begin_change(yarn_lifecycle_kind_of_unshare(flags));
    return yarn_lifecycle_end_change(&change, next(flags));
}

/* Which kind of namespace a descriptor stands for may not be said in the call. */
YARN_EXPORTED int setns(int fd, int kind)
{
    namespace_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_setns, &next, sizeof next))
        return -1;
    struct yarn_lifecycle_change change =
        yarn_lifecycle_begin_change(yarn_lifecycle_kind_of_setns(fd, kind));
    return yarn_lifecycle_end_change(&change, next(fd, kind));
}
