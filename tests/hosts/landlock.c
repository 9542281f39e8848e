/* SPDX-License-Identifier: Apache-2.0 */
/*
 * landlock WAY FOLDER: works, takes rules of Landlock by which no file may be made or removed any
 * more, sees that they hold, and works on. `keep` may remove files still; with `threads` a second
 * layer is another thread's; `idle` does not work; `refused` is given no rules after all.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { UNITS = 10, SKIPPED = 77 };

static const char *way = "", *folder = "";
static volatile uint64_t result;

__attribute__((noinline)) static void work_before(void)
{
    result = strstr(way, "idle") ? 0 : yarn_host_work(UNITS, 1, 3);
}

__attribute__((noinline)) static void work_behind(void)
{
    result = strstr(way, "idle") ? 0 : yarn_host_work(3 * UNITS, 2, 5);
}

static bool can_make(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/made", folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    close(fd);
    return fd >= 0 && unlink(path) == 0;
}

static bool take(uint64_t forbidden)
{
    const struct landlock_ruleset_attr rules = {.handled_access_fs = forbidden};
    int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
    if (fd < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _exit(SKIPPED);
    int err = (int)syscall(SYS_landlock_restrict_self, strstr(way, "refused") ? -1 : fd, 0);
    close(fd);
    return !err;
}

static void *take_more(void *unused)
{
    if (!take(LANDLOCK_ACCESS_FS_REMOVE_FILE))
        _exit(3);
    return unused;
}

int main(int argc, char *argv[])
{
    pthread_t thread;
    if (argc < 3)
        return 2;
    way = argv[1];
    folder = argv[2];
    bool is_split = strstr(way, "keep") || strstr(way, "threads");
    work_before();
    printf("before: %d\n", can_make());
    printf("taken: %d\n",
           take(LANDLOCK_ACCESS_FS_MAKE_REG | (is_split ? 0 : LANDLOCK_ACCESS_FS_REMOVE_FILE)));
    if (strstr(way, "threads") &&
        (pthread_create(&thread, NULL, take_more, NULL) || pthread_join(thread, NULL)))
        return 3;
    printf("after: %d\n", can_make());
    work_behind();
    return 0;
}
