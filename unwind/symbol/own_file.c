/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/symbol/own_file.h"

#include <sys/stat.h>

#include "core/sys/clock.h"
#include "core/sys/ids.h"

static bool is_of(uint32_t user, const struct yarn_file_info *info)
{
    struct yarn_ids ids;
    if (!S_ISREG(info->mode))
        return false;
    if (info->owner == 0 || user != YARN_OWN_FILE_OURS)
        return info->owner == 0 || info->owner == user;
    if (yarn_ids_read(&ids))
        return false;
    return info->owner == ids.effective_user || info->owner == ids.real_user;
}

int yarn_own_file_open(const struct yarn_target *target, const char *path, uint32_t user,
                       struct yarn_file_info *ret_info)
{
    struct yarn_file_info info;
    int fd = yarn_target_open_file(target ? target : &yarn_target_self, path);
    if (fd < 0)
        return fd;
    int err = yarn_file_stat(fd, &info);
    if (!err && !is_of(user, &info))
        err = -EPERM;
    if (err) {
        yarn_file_close(fd);
        return err;
    }
    *ret_info = info;
    return fd;
}

/* A file's time is that of the tick before, at most. */
#define TICK_NS (10 * YARN_NS_PER_MS)

uint64_t yarn_own_file_written_ns(const struct yarn_file_info *info)
{
    uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t ago_ns = yarn_u64_minus(yarn_clock_ns(YARN_TIME_REALTIME), info->modified_ns);
    return now_ns - yarn_u64_min(yarn_u64_minus(ago_ns, TICK_NS), now_ns);
}
