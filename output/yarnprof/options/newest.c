/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/newest.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>

#include "output/dump/reader.h"
#include "output/yarnprof/io/status.h"

enum { RUN_BYTES = 256 };

/* The newest so far. */
struct newest {
    char path[PATH_MAX];
    struct timespec time;
    char run[RUN_BYTES]; /* of its recording; empty: unknown */
    bool is_of_runs;     /* there are dumps of several */
    bool is_any;
};

static int note_run(void *self, const struct yarn_dump_option *option)
{
    char *run = self;
    if (!yarn_span_equal(option->name, yarn_span_of_text("run")))
        return 0;
    (void)snprintf(run, RUN_BYTES, "%.*s", (int)yarn_u64_min(option->value.size, RUN_BYTES - 1),
                   (const char *)option->value.data);
    return 1;
}

static bool is_dump(const char *path, char ret_run[RUN_BYTES])
{
    static const struct yarn_dump_visitor visitor = {.option = note_run};
    struct yarn_dump_summary summary;
    ret_run[0] = 0;
    return yarn_dump_read_file(path, &visitor, ret_run, &summary) >= 0 && summary.version_major;
}

static bool is_later(const struct timespec *one, const struct timespec *other)
{
    return one->tv_sec != other->tv_sec ? one->tv_sec > other->tv_sec
                                        : one->tv_nsec > other->tv_nsec;
}

static void offer(struct newest *newest, const char *path, const struct timespec *time)
{
    char run[RUN_BYTES];
    if (!is_dump(path, run))
        return;
    newest->is_of_runs |= newest->is_any && strcmp(run, newest->run) != 0;
    if (newest->is_any && !is_later(time, &newest->time))
        return;
    (void)snprintf(newest->path, sizeof newest->path, "%s", path);
    (void)strcpy(newest->run, run);
    newest->time = *time;
    newest->is_any = true;
}

static void look_into(struct newest *newest, const char *folder, bool is_deep);

/* A folder of one recording stands for its dumps. */
static void look_below(struct newest *newest, const char *path)
{
    struct newest below = {.is_any = false};
    look_into(&below, path, false);
    if (!below.is_any || (newest->is_any && !is_later(&below.time, &newest->time)))
        return;
    newest->time = below.time;
    newest->is_any = true;
    (void)strcpy(newest->run, below.run);
    (void)snprintf(newest->path, sizeof newest->path, "%s",
                   below.is_of_runs || !below.run[0] ? below.path : path);
}

static void look_into(struct newest *newest, const char *folder, bool is_deep)
{
    struct dirent *entry;
    DIR *entries = opendir(folder);
    while (entries && (entry = readdir(entries))) {
        char path[PATH_MAX];
        struct stat status;
        bool is_here = strcmp(folder, ".") == 0;
        int size = snprintf(path, sizeof path, "%s%s%s", is_here ? "" : folder, is_here ? "" : "/",
                            entry->d_name);
        if (entry->d_name[0] == '.' || size >= (int)sizeof path || stat(path, &status))
            continue;
        if (S_ISREG(status.st_mode))
            offer(newest, path, &status.st_mtim);
        else if (S_ISDIR(status.st_mode) && is_deep)
            look_below(newest, path);
    }
    if (entries)
        (void)closedir(entries);
}

bool yarn_newest_find(const char *verb, char ret_path[PATH_MAX])
{
    struct newest newest = {.is_any = false};
    look_into(&newest, ".", true);
    if (newest.is_any) {
        (void)strcpy(ret_path, newest.path);
        yarn_complain(verb, "%s is the newest here", newest.path);
    } else
        yarn_complain(verb, "no dump is named, and none is in this folder; see yarnprof %s --help",
                      verb);
    return newest.is_any;
}
