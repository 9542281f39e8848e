/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/load/sources.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "output/analysis/value/machines.h"
#include "output/base/array.h"
#include "output/dump/reader.h"

enum { SEEN_ENOUGH = 1 };

static int note_process(void *self, const struct yarn_dump_process *process)
{
    struct yarn_source *source = self;
    /* Why go on: in a merged dump the first process's record may be the one that is lost. */
    if (!process->pid)
        return 0;
    source->has_process = true;
    source->pid = process->pid;
    source->start_ns = process->start_ns;
    source->start_realtime_ns = process->start_realtime_ns;
    yarn_machine_name(process, source->machine);
    return SEEN_ENOUGH;
}

static int fail(struct yarn_source_failure *ret_failure, const char *path, int err, const char *why)
{
    (void)snprintf(ret_failure->path, sizeof ret_failure->path, "%s", path);
    (void)snprintf(ret_failure->why, sizeof ret_failure->why, "%s", why ? why : strerror(-err));
    return err;
}

static int fail_header(struct yarn_source_failure *ret_failure, const char *path,
                       const struct yarn_dump_summary *summary)
{
    if (!summary->version_major)
        return fail(ret_failure, path, -ENOEXEC, "not a dump of yarn (offset 0)");
    if (summary->nr_damages)
        return fail(ret_failure, path, -ENOEXEC, summary->damages[0].why);
    (void)fail(ret_failure, path, -ENOEXEC, "");
    (void)snprintf(ret_failure->why, sizeof ret_failure->why,
                   "a dump of version %u.%u, which is later than this yarnprof",
                   summary->version_major, summary->version_minor);
    return -ENOEXEC;
}

static int add_file(struct yarn_sources *sources, const char *path,
                    struct yarn_source_failure *ret_failure)
{
    static const struct yarn_dump_visitor visitor = {.process = note_process};
    struct yarn_source source = {0};
    struct yarn_dump_summary summary;
    struct stat status;
    int err = yarn_dump_read_file(path, &visitor, &source, &summary);
    if (err == -ENOEXEC)
        return fail_header(ret_failure, path, &summary);
    if (err < 0)
        return fail(ret_failure, path, err, NULL);
    if (!summary.version_major)
        return fail(ret_failure, path, -ENODATA, "it is empty or ends within its header");

    source.bytes = stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
    source.version_minor = summary.version_minor;
    source.path = strdup(path);
    if (source.path &&
        YARN_ARRAY_PUT(&sources->list, &sources->count, &sources->capacity, &source) == 0)
        return 0;
    free(source.path);
    return fail(ret_failure, path, -ENOMEM, NULL);
}

static int add_entry(struct yarn_sources *sources, const char *folder, const char *name,
                     struct yarn_source_failure *ret_failure)
{
    struct stat status;
    char path[4096];
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    if (snprintf(path, sizeof path, "%s%s%s", folder, slash, name) >= (int)sizeof path)
        return 0;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return 0;
    int err = add_file(sources, path, ret_failure);
    sources->nr_empty += err == -ENODATA;
    return err == -ENOEXEC || err == -ENODATA ? 0 : err;
}

static int add_folder(struct yarn_sources *sources, const char *folder,
                      struct yarn_source_failure *ret_failure)
{
    struct dirent **entries = NULL;
    size_t before = sources->count;
    bool has_folders = false;
    int err = 0;
    int count = scandir(folder, &entries, NULL, alphasort);
    if (count < 0)
        return fail(ret_failure, folder, -errno, NULL);
    for (int i = 0; i < count; i++) {
        if (!err)
            err = add_entry(sources, folder, entries[i]->d_name, ret_failure);
        has_folders |= entries[i]->d_type == DT_DIR && entries[i]->d_name[0] != '.';
        free(entries[i]);
    }
    free(entries);
    if (!err && sources->count == before)
        return fail(ret_failure, folder, -ENOENT,
                    has_folders ? "the folder holds no dump of yarn; those in it are FOLDER/*"
                                : "the folder holds no dump of yarn");
    return err;
}

int yarn_sources_add(struct yarn_sources *sources, const char *path,
                     struct yarn_source_failure *ret_failure)
{
    struct stat status;
    if (!path[0])
        return fail(ret_failure, "''", -ENOENT, NULL);
    if (stat(path, &status))
        return fail(ret_failure, path, -errno, NULL);
    if (S_ISDIR(status.st_mode))
        return add_folder(sources, path, ret_failure);
    /* Why: what is opened may wait for a writer, or never end. */
    if (!S_ISREG(status.st_mode))
        return fail(ret_failure, path, -EINVAL, "it is neither a file nor a folder");
    return add_file(sources, path, ret_failure);
}

uint64_t yarn_sources_bytes(const struct yarn_sources *sources)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < sources->count; i++)
        bytes += sources->list[i].bytes;
    return bytes;
}

static int by_start(const void *a, const void *b)
{
    const struct yarn_source *one = a, *other = b;
    if (one->start_ns != other->start_ns)
        return one->start_ns < other->start_ns ? -1 : 1;
    return strcmp(one->path, other->path);
}

static int by_real_start(const void *a, const void *b)
{
    const struct yarn_source *one = a, *other = b;
    if (one->start_realtime_ns != other->start_realtime_ns)
        return one->start_realtime_ns < other->start_realtime_ns ? -1 : 1;
    return by_start(a, b);
}

void yarn_sources_sort(struct yarn_sources *sources)
{
    bool is_one_machine = true;
    for (size_t i = 1; i < sources->count; i++)
        is_one_machine &= !sources->list[i].has_process || !sources->list[0].has_process ||
                          yarn_machine_is_same(sources->list[i].machine, sources->list[0].machine);
    if (sources->count)
        qsort(sources->list, sources->count, sizeof *sources->list,
              is_one_machine ? by_start : by_real_start);
}

void yarn_sources_fini(struct yarn_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++)
        free(sources->list[i].path);
    free(sources->list);
    *sources = (struct yarn_sources){0};
}
