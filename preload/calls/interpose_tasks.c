/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How a host counts its threads before it does what only a process of one thread may: by the links
 * of /proc/self/task, as Chromium's sandbox does, which ends itself where there is another. It asks
 * how many it made, so the reader is taken off: what it does next is looked after by the functions
 * that it calls for that. Other ways to count (reading /proc, or fstatat of a program that is not
 * built for large files) show the reader.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "preload/calls/interpose.h"
#include "preload/control/lifecycle.h"

/* For `.`, `..` and each of two tasks. */
enum { LEAST_LINKS = 4 };

static bool is_own_tasks(const char *path)
{
    static const char tail[] = "self/task";
    size_t length = path ? strlen(path) : 0;
    while (length && path[length - 1] == '/')
        length--;
    return length >= sizeof tail - 1 &&
           !memcmp(path + length - (sizeof tail - 1), tail, sizeof tail - 1);
}

/* The link count that the host is shown of a path. /proc is on no device and its folders have
 * no size; a further call could be one too many behind the host's own filter. */
static nlink_t links_shown(const char *path, const struct stat64 *status)
{
    bool is_of_proc = S_ISDIR(status->st_mode) && !major(status->st_dev) && !status->st_size;
    bool counts_reader = is_own_tasks(path) && is_of_proc && status->st_nlink >= LEAST_LINKS;
    return status->st_nlink - (counts_reader && yarn_lifecycle_has_reader());
}

YARN_EXPORTED int fstatat64(int folder, const char *path, struct stat64 *status, int flags)
{
    __typeof__(&fstatat64) next = YARN_ORIGINAL(fstatat64);
    if (!next)
        return -1;
    int result = next(folder, path, status, flags);
    if (!result)
        status->st_nlink = links_shown(path, status);
    return result;
}
