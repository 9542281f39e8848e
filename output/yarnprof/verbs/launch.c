/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "output/yarnprof/command/spawn.h"
#include "output/yarnprof/io/status.h"

#define PRELOAD_NAME "libyarn_preload.so"
#define YARN_BESIDE_LIBDIR "/../" YARN_LIBDIR

int yarn_launch_own_folder(char *ret_folder, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", ret_folder, size - 1);
    if (length <= 0)
        return -errno;
    ret_folder[length] = 0;
    char *slash = strrchr(ret_folder, '/');
    if (!slash)
        return -ENOENT;
    *slash = 0;
    return 0;
}

static bool is_there(struct yarn_launch *launch, const char *folder, const char *below)
{
    char path[4096 + 64];
    char *real;
    if (snprintf(path, sizeof path, "%s%s/" PRELOAD_NAME, folder, below) >= (int)sizeof path)
        return false;
    real = realpath(path, NULL);
    bool fits = real && access(real, R_OK) == 0 && strlen(real) < sizeof launch->preload;
    if (fits)
        (void)strcpy(launch->preload, real);
    free(real);
    return fits;
}

int yarn_launch_find(struct yarn_launch *launch, char *ret_why, size_t size)
{
    static const char *const places[] = {"", YARN_BESIDE_LIBDIR, "/../lib", "/../lib64"};
    char folder[4096];
    int err = yarn_launch_own_folder(folder, sizeof folder);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(places); i++) {
        if (is_there(launch, folder, places[i]))
            return 0;
    }
    if (is_there(launch, YARN_FULL_LIBDIR, ""))
        return 0;
    if (err)
        (void)snprintf(ret_why, size,
                       "where yarnprof lies is not known without /proc: "
                       "mount -t proc proc /proc");
    else
        (void)snprintf(ret_why, size, "%.2000s, %.2000s/../%s and %s were looked into", folder,
                       folder, YARN_LIBDIR, YARN_FULL_LIBDIR);
    return -ENOENT;
}

int yarn_launch_set(const char *name, const char *value)
{
    return setenv(name, value, 1) ? -errno : 0;
}

/* An existing LD_PRELOAD is kept, behind ours. */
static int set_preload(const void *self)
{
    const struct yarn_launch *launch = self;
    const char *before = getenv("LD_PRELOAD");
    if (launch->preload[strcspn(launch->preload, ": \t")])
        return -EINVAL;
    if (!before || !before[0])
        return yarn_launch_set("LD_PRELOAD", launch->preload);
    size_t size = strlen(launch->preload) + 1 + strlen(before) + 1;
    char *both = malloc(size);
    if (!both)
        return -ENOMEM;
    (void)snprintf(both, size, "%s:%s", launch->preload, before);
    int err = yarn_launch_set("LD_PRELOAD", both);
    free(both);
    return err;
}

static int report_failure(const char *command, int err)
{
    yarn_complain("record", "%s: %s", command,
                  err == -EINVAL ? "the path of " PRELOAD_NAME " has a space or colon, which "
                                   "LD_PRELOAD cannot hold"
                                 : strerror(-err));
    return err == -ENOENT ? YARN_STATUS_NO_COMMAND : YARN_STATUS_CANNOT_RUN;
}

static uint64_t ns_of(struct timeval time)
{
    return (uint64_t)time.tv_sec * YARN_NS_PER_SECOND + (uint64_t)time.tv_usec * 1000;
}

int yarn_launch_run(struct yarn_launch *launch, char *const argv[])
{
    struct yarn_spawn spawn;
    int status = YARN_STATUS_FAILED;
    int err = yarn_spawn_start(&spawn, argv, set_preload, launch);
    if (err)
        return report_failure(argv[0], err);
    yarn_spawn_release(&spawn);
    err = yarn_spawn_finish(&spawn, &status);
    if (err)
        return report_failure(argv[0], err);
    launch->cpu_ns = ns_of(spawn.usage.ru_utime) + ns_of(spawn.usage.ru_stime);
    launch->life_ns = spawn.end_ns - spawn.begin_ns;
    return status;
}
