/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/own_files.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>

#include "core/base/raw.h"

enum { HELD = 3 };

static YARN_IN_DATA atomic_int owner; /* a thread's number; 0: nobody has a table of its own */
static YARN_IN_DATA bool is_held[HELD];

static int own_tid(void)
{
    return (int)yarn_raw_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static void close_file(int fd)
{
    yarn_raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static bool is_owner(void)
{
    int tid = atomic_load_explicit(&owner, memory_order_relaxed);
    return tid && tid == own_tid();
}

/* Plainly: what opens files by way of the reserve would take from it what is to be held. */
static long open_nothing(void)
{
    long fd = yarn_raw_call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR, 0, 0, 0);
    if (!yarn_raw_is_error(fd))
        return fd;
    /* In a root without devices; no folder leads out of one. */
    return yarn_raw_call(SYS_openat, AT_FDCWD, (long)"/proc/self/stat", O_RDONLY, 0, 0, 0);
}

int yarn_own_files_hold(void)
{
    while (!is_held[0] || !is_held[1] || !is_held[2]) {
        long fd = open_nothing(); /* the lowest free number comes first */
        if (yarn_raw_is_error(fd))
            return (int)fd;
        if (fd >= HELD) {
            close_file((int)fd);
            return 0;
        }
        is_held[fd] = true;
    }
    return 0;
}

static long close_all(uint32_t flags)
{
    return yarn_raw_call(SYS_close_range, 0, UINT32_MAX, flags, 0, 0, 0);
}

/* Why by one call: what the host closes while the table is a copy of its own stays open until that
 * is closed, too. The kernel copies the first 64 numbers at most of a range that is to be closed.
 */
int yarn_own_files_open(bool is_apart)
{
    long result = is_apart ? -EINVAL : close_all(CLOSE_RANGE_UNSHARE);
    if (result == -ENOMEM)
        return -ENOMEM;
    bool has_left = !yarn_raw_is_error(result);
    if (!has_left && !is_apart)
        result = yarn_raw_call(SYS_unshare, CLONE_FILES, 0, 0, 0, 0, 0);
    if (!has_left && !is_apart && yarn_raw_is_error(result))
        return (int)result;
    /* A container's filter may say something else than ENOSYS to a call that it does not know. */
    if (!has_left && yarn_raw_is_error(close_all(0)))
        for (int fd = 0; fd < 65536; fd++)
            close_file(fd);
    atomic_store_explicit(&owner, own_tid(), memory_order_relaxed);
    memset(is_held, 0, sizeof is_held);
    return yarn_own_files_hold();
}

bool yarn_own_files_lend(void)
{
    if (!is_owner())
        return false;
    for (int fd = HELD - 1; fd >= 0; fd--)
        if (is_held[fd]) {
            is_held[fd] = false;
            close_file(fd);
            return true;
        }
    return false;
}

bool yarn_own_files_is_reserved(int fd)
{
    return fd >= 0 && fd < HELD && is_owner();
}
