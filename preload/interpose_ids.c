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

#include "preload/exported.h"
#include "preload/lifecycle.h"
#include "preload/originals.h"

YARN_EXPORTED int capset(void *head, const void *words);

typedef int (*set_one_fn)(id_t id);
typedef int (*set_two_fn)(id_t real, id_t effective);
typedef int (*set_three_fn)(id_t real, id_t effective, id_t saved);
typedef int (*set_groups_fn)(size_t count, const gid_t *groups);
typedef int (*set_capabilities_fn)(void *head, const void *words);
typedef int (*init_groups_fn)(const char *user, gid_t group);

/* The original named `which`, of type `type`, with the words given. */
#define CHANGE(which, type, ...)                                                                   \
    do {                                                                                           \
        type next;                                                                                 \
        if (!yarn_original_find(which, &next, sizeof next))                                        \
            return -1;                                                                             \
        struct yarn_lifecycle_change change = yarn_lifecycle_begin_change(YARN_CHANGE_RIGHTS);     \
        return yarn_lifecycle_end_change(&change, next(__VA_ARGS__));                              \
    } while (0)

static int set_one(enum yarn_original which, id_t id)
{
    CHANGE(which, set_one_fn, id);
}

static int set_two(enum yarn_original which, id_t real, id_t effective)
{
    CHANGE(which, set_two_fn, real, effective);
}

static int set_three(enum yarn_original which, id_t real, id_t effective, id_t saved)
{
    CHANGE(which, set_three_fn, real, effective, saved);
}

YARN_EXPORTED int setuid(uid_t user)
{
    return set_one(YARN_ORIGINAL_setuid, user);
}

YARN_EXPORTED int setgid(gid_t group)
{
    return set_one(YARN_ORIGINAL_setgid, group);
}

YARN_EXPORTED int seteuid(uid_t user)
{
    return set_one(YARN_ORIGINAL_seteuid, user);
}

YARN_EXPORTED int setegid(gid_t group)
{
    return set_one(YARN_ORIGINAL_setegid, group);
}

YARN_EXPORTED int setreuid(uid_t real, uid_t effective)
{
    return set_two(YARN_ORIGINAL_setreuid, real, effective);
}

YARN_EXPORTED int setregid(gid_t real, gid_t effective)
{
    return set_two(YARN_ORIGINAL_setregid, real, effective);
}

YARN_EXPORTED int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    return set_three(YARN_ORIGINAL_setresuid, real, effective, saved);
}

YARN_EXPORTED int setresgid(gid_t real, gid_t effective, gid_t saved)
{
    return set_three(YARN_ORIGINAL_setresgid, real, effective, saved);
}

YARN_EXPORTED int setgroups(size_t count, const gid_t *groups)
{
    CHANGE(YARN_ORIGINAL_setgroups, set_groups_fn, count, groups);
}

YARN_EXPORTED int initgroups(const char *user, gid_t group)
{
    CHANGE(YARN_ORIGINAL_initgroups, init_groups_fn, user, group);
}

/* No header of the C library's declares it. */
YARN_EXPORTED int capset(void *head, const void *words)
{
    CHANGE(YARN_ORIGINAL_capset, set_capabilities_fn, head, words);
}
