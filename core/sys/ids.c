/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/ids.h"

#include <sys/syscall.h>

#include "core/base/raw.h"

static int read_three(long number, uint32_t *real, uint32_t *effective, uint32_t *saved)
{
    return (int)yarn_raw_call(number, (long)real, (long)effective, (long)saved, 0, 0, 0);
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
    if (yarn_raw_is_error(count))
        return (int)count;
    ret_ids->nr_groups = (size_t)count;
    return 0;
}

static bool has_same_groups(const struct yarn_ids *a, const struct yarn_ids *b)
{
    return a->nr_groups == b->nr_groups &&
           memcmp(a->groups, b->groups, a->nr_groups * sizeof a->groups[0]) == 0;
}

int yarn_ids_take(const struct yarn_ids *ids)
{
    struct yarn_ids own;
    int err = yarn_ids_read(&own);
    if (err || !has_same_groups(&own, ids))
        err =
            (int)yarn_raw_call(SYS_setgroups, (long)ids->nr_groups, (long)ids->groups, 0, 0, 0, 0);
    if (!err)
        err = (int)yarn_raw_call(SYS_setresgid, ids->real_group, ids->effective_group,
                                 ids->saved_group, 0, 0, 0);
    if (!err)
        err = (int)yarn_raw_call(SYS_setresuid, ids->real_user, ids->effective_user,
                                 ids->saved_user, 0, 0, 0);
    return err;
}
