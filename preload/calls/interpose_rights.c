/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions by which a process gives up rights, its root or its namespaces: the
 * reader must not keep what the host gave up. Each calls the original, which repeats a change of
 * ids on the threads that it knows; before and after it the reader is made to follow. The host's
 * result and errno are the original's. Functions by which a process leaves its folder are left
 * alone: the reader is where the host is, and dumps have whole paths.
 */
#include <grp.h>
#include <sched.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"

YARN_EXPORTED int capset(void *head, const void *words);

/* Exports a function of these words, which goes by way of the original. */
#define CHANGES(change_kind, name, words, ...)                                                     \
    YARN_EXPORTED int name words                                                                   \
    {                                                                                              \
        int(*next) words = YARN_ORIGINAL(name);                                                    \
        if (!next)                                                                                 \
            return -1;                                                                             \
        struct yarn_lifecycle_change change;                                                       \
        yarn_lifecycle_begin_change(change_kind, &change);                                         \
        return yarn_lifecycle_end_change(&change, next(__VA_ARGS__));                              \
    }

CHANGES(YARN_CHANGE_IDS, setuid, (uid_t user), user)
CHANGES(YARN_CHANGE_IDS, setgid, (gid_t group), group)
CHANGES(YARN_CHANGE_IDS, seteuid, (uid_t user), user)
CHANGES(YARN_CHANGE_IDS, setegid, (gid_t group), group)
CHANGES(YARN_CHANGE_IDS, setreuid, (uid_t real, uid_t effective), real, effective)
CHANGES(YARN_CHANGE_IDS, setregid, (gid_t real, gid_t effective), real, effective)
CHANGES(YARN_CHANGE_IDS, setresuid, (uid_t real, uid_t effective, uid_t saved), real, effective,
        saved)
CHANGES(YARN_CHANGE_IDS, setresgid, (gid_t real, gid_t effective, gid_t saved), real, effective,
        saved)
CHANGES(YARN_CHANGE_GROUPS, setgroups, (size_t count, const gid_t *groups), count, groups)
CHANGES(YARN_CHANGE_GROUPS, initgroups, (const char *user, gid_t group), user, group)
/* No header of the C library's declares it. */
CHANGES(YARN_CHANGE_RIGHTS, capset, (void *head, const void *words), head, words)
CHANGES(YARN_CHANGE_ROOT, chroot, (const char *path), path)
CHANGES(yarn_lifecycle_kind_of_unshare(flags), unshare, (int flags), flags)
/* Which kind of namespace a descriptor stands for may not be said in the call. */
CHANGES(yarn_lifecycle_kind_of_setns(fd, kind), setns, (int fd, int kind), fd, kind)
