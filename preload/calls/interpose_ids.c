/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions that change the rights of the whole process, and capset, which changes
 * those of a thread. Each calls the original, which repeats a change of ids on the threads that it
 * knows, and then has the reader take the same rights: it must not keep what the host gave up. The
 * host's result and errno are the original's.
 */
#include <errno.h>
#include <grp.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/calls/exported.h"
#include "preload/calls/originals.h"
#include "preload/control/lifecycle.h"

YARN_EXPORTED int capset(void *head, const void *words);

/* Exports a function of these words, which goes by way of the original. */
#define CHANGES_RIGHTS(name, original, words, ...)                                                 \
    YARN_EXPORTED int name words                                                                   \
    {                                                                                              \
        int(*next) words;                                                                          \
        if (!yarn_original_find(original, &next, sizeof next))                                     \
            return -1;                                                                             \
        struct yarn_lifecycle_change change = yarn_lifecycle_begin_change(YARN_CHANGE_RIGHTS);     \
        return yarn_lifecycle_end_change(&change, next(__VA_ARGS__));                              \
    }

CHANGES_RIGHTS(setuid, YARN_ORIGINAL_setuid, (uid_t user), user)
CHANGES_RIGHTS(setgid, YARN_ORIGINAL_setgid, (gid_t group), group)
CHANGES_RIGHTS(seteuid, YARN_ORIGINAL_seteuid, (uid_t user), user)
CHANGES_RIGHTS(setegid, YARN_ORIGINAL_setegid, (gid_t group), group)
CHANGES_RIGHTS(setreuid, YARN_ORIGINAL_setreuid, (uid_t real, uid_t effective), real, effective)
CHANGES_RIGHTS(setregid, YARN_ORIGINAL_setregid, (gid_t real, gid_t effective), real, effective)
CHANGES_RIGHTS(setresuid, YARN_ORIGINAL_setresuid, (uid_t real, uid_t effective, uid_t saved), real,
               effective, saved)
CHANGES_RIGHTS(setresgid, YARN_ORIGINAL_setresgid, (gid_t real, gid_t effective, gid_t saved), real,
               effective, saved)
CHANGES_RIGHTS(setgroups, YARN_ORIGINAL_setgroups, (size_t count, const gid_t *groups), count,
               groups)
CHANGES_RIGHTS(initgroups, YARN_ORIGINAL_initgroups, (const char *user, gid_t group), user, group)
/* No header of the C library's declares it. */
CHANGES_RIGHTS(capset, YARN_ORIGINAL_capset, (void *head, const void *words), head, words)
