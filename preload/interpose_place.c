/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions by which a process leaves its folder, its root or its namespaces. A
 * reader that is just starting takes folder and root first, so that dumps go where the host was
 * when it was forked. Where the kernel wants a process of one thread, there is none of ours.
 */
#include <errno.h>
#include <sched.h>
#include <unistd.h>

#include "preload/exported.h"
#include "preload/lifecycle.h"
#include "preload/originals.h"

typedef int (*path_fn)(const char *path);
typedef int (*fd_fn)(int fd);
typedef int (*flags_fn)(int flags);
typedef int (*namespace_fn)(int fd, int kind);

static int leave_by_path(enum yarn_original which, const char *path)
{
    path_fn next;
    yarn_lifecycle_settle();
    return yarn_original_find(which, &next, sizeof next) ? next(path) : -1;
}

YARN_EXPORTED int chdir(const char *path)
{
    return leave_by_path(YARN_ORIGINAL_chdir, path);
}

YARN_EXPORTED int chroot(const char *path)
{
    return leave_by_path(YARN_ORIGINAL_chroot, path);
}

YARN_EXPORTED int fchdir(int fd)
{
    fd_fn next;
    yarn_lifecycle_settle();
    return yarn_original_find(YARN_ORIGINAL_fchdir, &next, sizeof next) ? next(fd) : -1;
}

static int ended_alone(bool was_recording, int result)
{
    int kept = errno;
    if (was_recording)
        yarn_lifecycle_end_alone();
    errno = kept;
    return result;
}

YARN_EXPORTED int unshare(int flags)
{
    flags_fn next;
    const int alone = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;
    if (!yarn_original_find(YARN_ORIGINAL_unshare, &next, sizeof next))
        return -1;
    yarn_lifecycle_settle();
    if (!(flags & alone) || !yarn_lifecycle_can_unshare())
        return next(flags);
    bool was_recording =
        yarn_lifecycle_begin_alone("the host entered a user namespace; another recording follows");
    return ended_alone(was_recording, next(flags));
}

/* Which kind of namespace a descriptor stands for may not be said in the call. */
YARN_EXPORTED int setns(int fd, int kind)
{
    namespace_fn next;
    if (!yarn_original_find(YARN_ORIGINAL_setns, &next, sizeof next))
        return -1;
    yarn_lifecycle_settle();
    if (!yarn_lifecycle_can_enter_alone(fd, kind))
        return next(fd, kind);
    bool was_recording =
        yarn_lifecycle_begin_alone("the host entered a namespace; another recording follows");
    return ended_alone(was_recording, next(fd, kind));
}
