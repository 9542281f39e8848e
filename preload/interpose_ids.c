/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's functions that change the rights of the whole process. Each calls the original,
 * which repeats the change on the threads that it knows, and then has the reader take the same
 * rights: it must not keep what the host gave up. The host's result and errno are the original's.
 */
#include "preload/interpose_ids.h"

#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "preload/exported.h"
#include "preload/lifecycle.h"

enum original {
    SETUID,
    SETGID,
    SETEUID,
    SETEGID,
    SETREUID,
    SETREGID,
    SETRESUID,
    SETRESGID,
    SETGROUPS,
    INITGROUPS,
    NR_ORIGINALS,
};

static const char *const names[NR_ORIGINALS] = {
    "setuid",   "setgid",    "seteuid",   "setegid",   "setreuid",
    "setregid", "setresuid", "setresgid", "setgroups", "initgroups",
};

typedef int (*set_one_fn)(id_t id);
typedef int (*set_two_fn)(id_t real, id_t effective);
typedef int (*set_three_fn)(id_t real, id_t effective, id_t saved);
typedef int (*set_groups_fn)(size_t count, const gid_t *groups);
typedef int (*init_groups_fn)(const char *user, gid_t group);

/* Looked up in the constructor: a call may come from a vfork child or a signal handler, where the
 * loader must not be entered. */
static void *originals[NR_ORIGINALS];

void yarn_interpose_ids_begin(void)
{
    for (size_t i = 0; i < NR_ORIGINALS; i++)
        originals[i] = dlsym(RTLD_NEXT, names[i]);
}

/* A function pointer cannot be cast from the object pointer that dlsym gives, only copied. */
static bool find(enum original which, void *ret_function, size_t size)
{
    if (!originals[which]) /* a constructor that ran before ours */
        originals[which] = dlsym(RTLD_NEXT, names[which]);
    memcpy(ret_function, &originals[which], size);
    if (!originals[which])
        errno = ENOSYS;
    return originals[which];
}

static int followed(int result)
{
    int kept = errno;
    if (result == 0)
        yarn_lifecycle_follow_ids();
    errno = kept;
    return result;
}

static int set_one(enum original which, id_t id)
{
    set_one_fn next;
    return find(which, &next, sizeof next) ? followed(next(id)) : -1;
}

static int set_two(enum original which, id_t real, id_t effective)
{
    set_two_fn next;
    return find(which, &next, sizeof next) ? followed(next(real, effective)) : -1;
}

static int set_three(enum original which, id_t real, id_t effective, id_t saved)
{
    set_three_fn next;
    return find(which, &next, sizeof next) ? followed(next(real, effective, saved)) : -1;
}

YARN_EXPORTED int setuid(uid_t user)
{
    return set_one(SETUID, user);
}

YARN_EXPORTED int setgid(gid_t group)
{
    return set_one(SETGID, group);
}

YARN_EXPORTED int seteuid(uid_t user)
{
    return set_one(SETEUID, user);
}

YARN_EXPORTED int setegid(gid_t group)
{
    return set_one(SETEGID, group);
}

YARN_EXPORTED int setreuid(uid_t real, uid_t effective)
{
    return set_two(SETREUID, real, effective);
}

YARN_EXPORTED int setregid(gid_t real, gid_t effective)
{
    return set_two(SETREGID, real, effective);
}

YARN_EXPORTED int setresuid(uid_t real, uid_t effective, uid_t saved)
{
    return set_three(SETRESUID, real, effective, saved);
}

YARN_EXPORTED int setresgid(gid_t real, gid_t effective, gid_t saved)
{
    return set_three(SETRESGID, real, effective, saved);
}

YARN_EXPORTED int setgroups(size_t count, const gid_t *groups)
{
    set_groups_fn next;
    return find(SETGROUPS, &next, sizeof next) ? followed(next(count, groups)) : -1;
}

YARN_EXPORTED int initgroups(const char *user, gid_t group)
{
    init_groups_fn next;
    return find(INITGROUPS, &next, sizeof next) ? followed(next(user, group)) : -1;
}
