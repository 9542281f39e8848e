/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/ids.h"

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "core/base/raw.h"

static int read_three(long number, uint32_t *real, uint32_t *effective, uint32_t *saved)
{
    return (int)yarn_raw_call(number, (long)real, (long)effective, (long)saved, 0, 0, 0);
}

#define UNKNOWN UINT64_MAX
enum { TOO_MANY = YARN_IDS_GROUPS_MAX + 1 };

struct capabilities {
    struct __user_cap_header_struct head;
    struct __user_cap_data_struct words[_LINUX_CAPABILITY_U32S_3];
};

static uint64_t join(uint32_t low, uint32_t high)
{
    return (uint64_t)high << 32 | low;
}

/* A machine or a filter without them: whatever it is, it is not ours to change. */
static void read_capabilities(uint64_t *ret_effective, uint64_t *ret_permitted,
                              uint64_t *ret_inheritable)
{
    struct capabilities all = {.head = {.version = _LINUX_CAPABILITY_VERSION_3}};
    long result = yarn_raw_call(SYS_capget, (long)&all.head, (long)all.words, 0, 0, 0, 0);
    if (yarn_raw_is_error(result)) {
        *ret_effective = *ret_permitted = *ret_inheritable = UNKNOWN;
        return;
    }
    *ret_effective = join(all.words[0].effective, all.words[1].effective);
    *ret_permitted = join(all.words[0].permitted, all.words[1].permitted);
    *ret_inheritable = join(all.words[0].inheritable, all.words[1].inheritable);
}

static bool has_capability(uint64_t permitted, int number)
{
    return permitted != UNKNOWN && permitted >> number & 1;
}

void yarn_ids_hold_read(struct yarn_ids_hold *ret_hold)
{
    uint32_t *user = ret_hold->user, *group = ret_hold->group;
    uint64_t permitted, other;
    read_capabilities(&other, &permitted, &other);
    *ret_hold = (struct yarn_ids_hold){.permitted = permitted};
    if (!has_capability(permitted, CAP_SETUID) &&
        read_three(SYS_getresuid, &user[0], &user[1], &user[2]))
        ret_hold->permitted = UNKNOWN;
    if (!has_capability(permitted, CAP_SETGID) &&
        read_three(SYS_getresgid, &group[0], &group[1], &group[2]))
        ret_hold->permitted = UNKNOWN;
}

/* The kernel lets each of the three be any of the three. */
static bool are_among(const uint32_t wanted[3], const uint32_t own[3])
{
    for (int i = 0; i < 3; i++)
        if (wanted[i] != own[0] && wanted[i] != own[1] && wanted[i] != own[2])
            return false;
    return true;
}

bool yarn_ids_can_regain(const struct yarn_ids_hold *before, bool changed_groups)
{
    struct yarn_ids_hold now;
    yarn_ids_hold_read(&now);
    if (now.permitted != before->permitted || now.permitted == UNKNOWN)
        return false;
    bool has_users = has_capability(now.permitted, CAP_SETUID) || are_among(before->user, now.user);
    bool has_groups = has_capability(now.permitted, CAP_SETGID) ||
                      (!changed_groups && are_among(before->group, now.group));
    return has_users && has_groups;
}

static int set_capabilities(uint64_t effective, uint64_t permitted, uint64_t inheritable)
{
    struct capabilities all = {.head = {.version = _LINUX_CAPABILITY_VERSION_3}};
    for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
        all.words[i] = (struct __user_cap_data_struct){
            .effective = (uint32_t)(effective >> 32 * i),
            .permitted = (uint32_t)(permitted >> 32 * i),
            .inheritable = (uint32_t)(inheritable >> 32 * i),
        };
    return (int)yarn_raw_call(SYS_capset, (long)&all.head, (long)all.words, 0, 0, 0, 0);
}

static int take_capabilities(const struct yarn_ids *ids)
{
    uint64_t own_effective, own_permitted, own_inheritable;
    if (ids->permitted == UNKNOWN)
        return 0;
    read_capabilities(&own_effective, &own_permitted, &own_inheritable);
    uint64_t permitted = own_permitted & ids->permitted;
    uint64_t effective = permitted & ids->effective;
    uint64_t inheritable = own_inheritable & ids->inheritable;
    if (permitted == own_permitted && effective == own_effective && inheritable == own_inheritable)
        return 0;
    return set_capabilities(effective, permitted, inheritable);
}

static void keep_capabilities(bool is_kept)
{
    yarn_raw_call(SYS_prctl, PR_SET_KEEPCAPS, is_kept, 0, 0, 0, 0);
}

int yarn_ids_read(struct yarn_ids *ret_ids)
{
    int err = read_three(SYS_getresuid, &ret_ids->real_user, &ret_ids->effective_user,
                         &ret_ids->saved_user);
    if (!err)
        err = read_three(SYS_getresgid, &ret_ids->real_group, &ret_ids->effective_group,
                         &ret_ids->saved_group);
    if (err)
        return err;
    long count =
        yarn_raw_call(SYS_getgroups, YARN_IDS_GROUPS_MAX, (long)ret_ids->groups, 0, 0, 0, 0);
    if (yarn_raw_is_error(count) && count != -EINVAL)
        return (int)count;
    ret_ids->nr_groups = count == -EINVAL ? TOO_MANY : (size_t)count;
    read_capabilities(&ret_ids->effective, &ret_ids->permitted, &ret_ids->inheritable);
    return 0;
}

static bool has_same_groups(const struct yarn_ids *a, const struct yarn_ids *b)
{
    return a->nr_groups == b->nr_groups && a->nr_groups != TOO_MANY &&
           memcmp(a->groups, b->groups, a->nr_groups * sizeof a->groups[0]) == 0;
}

/* None instead of too many. Where both have too many and the caller may not change its own, nobody
 * could: they are the same. */
static int take_groups(const struct yarn_ids *own, const struct yarn_ids *ids)
{
    bool are_both_unknown = own->nr_groups == TOO_MANY && ids->nr_groups == TOO_MANY;
    size_t count = ids->nr_groups == TOO_MANY ? 0 : ids->nr_groups;
    if (has_same_groups(own, ids))
        return 0;
    int err = (int)yarn_raw_call(SYS_setgroups, (long)count, (long)ids->groups, 0, 0, 0, 0);
    return err == -EPERM && are_both_unknown ? 0 : err;
}

static bool has_same_group(const struct yarn_ids *a, const struct yarn_ids *b)
{
    return a->real_group == b->real_group && a->effective_group == b->effective_group &&
           a->saved_group == b->saved_group;
}

static bool has_root(const struct yarn_ids *ids)
{
    return !ids->real_user || !ids->effective_user || !ids->saved_user;
}

bool yarn_ids_are_own(const struct yarn_ids *ids)
{
    struct yarn_ids own;
    return !yarn_ids_read(&own) && has_same_groups(&own, ids) && has_same_group(&own, ids) &&
           own.real_user == ids->real_user && own.effective_user == ids->effective_user &&
           own.saved_user == ids->saved_user && own.effective == ids->effective &&
           own.permitted == ids->permitted && own.inheritable == ids->inheritable;
}

int yarn_ids_take(const struct yarn_ids *ids)
{
    struct yarn_ids own;
    int err = yarn_ids_read(&own);
    /* The effective ones go with an effective root, and the host has been through more steps. */
    if (!err && own.effective != own.permitted)
        err = set_capabilities(own.permitted, own.permitted, own.inheritable);
    if (!err)
        err = take_groups(&own, ids);
    if (!err && !has_same_group(&own, ids))
        err = (int)yarn_raw_call(SYS_setresgid, ids->real_group, ids->effective_group,
                                 ids->saved_group, 0, 0, 0);
    /* Why kept: a host may have asked for that, and what it did not keep is given up just after.
     * With a root among the ids all are kept anyway. */
    bool would_lose =
        ids->permitted != 0 && ids->permitted != UNKNOWN && !(has_root(&own) && has_root(ids));
    if (would_lose)
        keep_capabilities(true);
    if (!err)
        err = (int)yarn_raw_call(SYS_setresuid, ids->real_user, ids->effective_user,
                                 ids->saved_user, 0, 0, 0);
    if (!err)
        err = take_capabilities(ids);
    if (would_lose)
        keep_capabilities(false);
    return err;
}

void yarn_ids_renounce_exec(void)
{
    yarn_raw_call(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0);
}

void yarn_ids_drop_bounds(void)
{
    for (long number = 0; !yarn_raw_call(SYS_prctl, PR_CAPBSET_DROP, number, 0, 0, 0, 0); number++)
        ;
}
