/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/record_names.h"

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "output/analysis/load/load.h"
#include "output/analysis/value/runtime.h"
#include "output/base/array.h"
#include "output/dump/merger.h"
#include "output/yarnprof/io/new_file.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/verbs/launch.h"

#define VARIABLE "YARN_JIT"

enum { VALUE_BYTES = 4096 };

/* What holds other options keeps them. */
static int set_one(const struct yarn_runtime *runtime, struct yarn_text *done)
{
    char joined[VALUE_BYTES];
    const char *before = runtime->joins ? getenv(runtime->variable) : NULL;
    if (before && strstr(before, runtime->value))
        return 0;
    struct yarn_text value = yarn_text_of(joined, sizeof joined);
    yarn_text_add_format(&value, "%s%s%s", before ? before : "", before && before[0] ? " " : "",
                         runtime->value);
    yarn_text_add_format(done, "%s%s=%s", done->size ? ", " : "", runtime->variable,
                         runtime->value);
    return value.cut ? -E2BIG : yarn_launch_set(runtime->variable, joined);
}

int yarn_jit_set(const char *name)
{
    char bytes[VALUE_BYTES] = "";
    struct yarn_text done = yarn_text_of(bytes, sizeof bytes);
    const struct yarn_runtime *runtime;
    int err = 0;
    for (size_t i = 0; !err && (runtime = yarn_runtime_at(i)); i++)
        if (runtime->is_safe && (!name || strcmp(runtime->name, name) == 0))
            err = set_one(runtime, &done);
    if (err || !done.size)
        return err;
    yarn_complain(
        "record",
        "%s sets %s; Python's calls take 1.4 to 1.8 times as long with it, and its "
        "recursion limit is reached earlier; each process writes /tmp/perf-PID.map, which "
        "is removed at the end",
        name ? "--python" : "--jit", bytes);
    return yarn_launch_set(VARIABLE, bytes);
}

static void remove_file(const char *path, uint64_t since_ns)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        (uint64_t)status.st_mtim.tv_sec + 1 >= since_ns / YARN_NS_PER_SECOND)
        (void)unlink(path);
}

/* What runs on still writes them. */
static bool is_gone(unsigned pid)
{
    return kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Node writes them where it is started, whenever it writes a map: without one it was of this run,
 * whose maps have been removed. */
static void remove_logs(uint64_t since_ns)
{
    char map[64];
    unsigned pid;
    glob_t logs = {.gl_pathv = NULL};
    int err = glob("isolate-0x*-v8.log", 0, NULL, &logs);
    for (size_t i = 0; !err && i < logs.gl_pathc; i++) {
        if (sscanf(logs.gl_pathv[i], "isolate-0x%*[0-9a-f]-%u-v8.log", &pid) != 1 || !is_gone(pid))
            continue;
        (void)snprintf(map, sizeof map, "/tmp/perf-%u.map", pid);
        if (access(map, F_OK) != 0)
            remove_file(logs.gl_pathv[i], since_ns);
    }
    globfree(&logs);
}

/* Removes the perf maps of processes that have ended. Processes without a dump have removed theirs
 * themselves. */
void yarn_jit_clean_up(const struct yarn_sources *sources, uint64_t since_ns)
{
    char map[64];
    for (size_t i = 0; i < sources->count; i++) {
        unsigned pid = sources->list[i].pid;
        (void)snprintf(map, sizeof map, "/tmp/perf-%u.map", pid);
        if (pid && is_gone(pid))
            remove_file(map, since_ns);
    }
    remove_logs(since_ns);
}

struct found_names {
    struct yarn_dump_code_name *list; /* owned; and the bytes of their names */
    size_t count, capacity;
};

/* It alone. */
static int load(const struct yarn_source *source, const struct yarn_load_options *options,
                struct yarn_profile *ret_profile)
{
    struct yarn_source one = *source;
    const struct yarn_sources sources = {.list = &one, .count = 1};
    struct yarn_source_failure failure;
    int err = yarn_profile_init(ret_profile);
    if (err)
        return err;
    err = yarn_profile_load(ret_profile, &sources, options, &failure);
    if (err)
        yarn_profile_fini(ret_profile);
    return err;
}

/* Why not all that is found at once: most have their names, and are large. */
static bool lacks_names(const struct yarn_source *source)
{
    const struct yarn_load_options options = {.has_counts = true, .has_no_code = true};
    struct yarn_profile profile;
    if (load(source, &options, &profile))
        return false;
    const struct yarn_profile_dump *dump = &profile.dumps[0];
    const struct yarn_dump_summary *summary = &dump->summary;
    bool is_whole = profile.nr_dumps == 1 && dump->has_process && dump->has_end &&
                    !summary->nr_damages && !summary->is_cut;
    uint64_t nr_unnamed = dump->trust.stored.value[YARN_DUMP_TOTAL_FRAMES_UNNAMED];
    yarn_profile_fini(&profile);
    return is_whole && nr_unnamed;
}

static int take_name(void *self, const struct yarn_dump_code_name *name)
{
    struct found_names *found = self;
    struct yarn_dump_code_name kept = *name;
    uint8_t *copy = malloc(name->name.size + 1);
    if (copy && name->name.size)
        memcpy(copy, name->name.data, name->name.size);
    kept.name.data = copy;
    if (copy && !YARN_ARRAY_PUT(&found->list, &found->count, &found->capacity, &kept))
        return 0;
    free(copy);
    return -ENOMEM;
}

static void find_names(const struct yarn_source *source, struct found_names *found)
{
    struct yarn_load_options options = YARN_LOAD_SHORT;
    options.take_name = take_name;
    options.names_self = found;
    struct yarn_profile profile;
    if (load(source, &options, &profile))
        found->count = 0; /* their bytes are lost; it is one dump that cannot be loaded */
    else
        yarn_profile_fini(&profile);
}

static int put(void *self, struct yarn_span bytes)
{
    return fwrite(bytes.data, 1, bytes.size, self) == bytes.size ? 0 : -EIO;
}

static bool is_unchanged(const char *path, const struct stat *before)
{
    struct stat now;
    return lstat(path, &now) == 0 && now.st_ino == before->st_ino && now.st_dev == before->st_dev &&
           now.st_size == before->st_size && now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
           now.st_mtim.tv_nsec == before->st_mtim.tv_nsec;
}

static int write_with_names(const struct yarn_source *source, const struct found_names *found,
                            FILE *file)
{
    struct yarn_dump_merger merger;
    struct yarn_dump_summary summary;
    int err = yarn_dump_merger_open(&merger, source->version_minor, put, file);
    merger.names = found->list;
    merger.nr_names = found->count;
    if (!err)
        err = yarn_dump_merger_add_file(&merger, source->path, &summary);
    yarn_dump_merger_close(&merger);
    return err;
}

static void rewrite(const struct yarn_source *source, const struct found_names *found,
                    const struct stat *before)
{
    struct yarn_new_file file;
    if (yarn_new_file_open(&file, source->path, YARN_NEW_FILE_PLAIN))
        return;
    int err = write_with_names(source, found, file.file);
    if (!err && fchmod(fileno(file.file), before->st_mode & 07777))
        err = -errno;
    if (err || !is_unchanged(source->path, before))
        yarn_new_file_abandon(&file);
    else
        (void)!yarn_new_file_commit(&file);
}

void yarn_name_dumps(const struct yarn_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        const struct yarn_source *source = &sources->list[i];
        struct found_names found = {.count = 0};
        struct stat before;
        if (lstat(source->path, &before) || !S_ISREG(before.st_mode) ||
            before.st_uid != geteuid() || !lacks_names(source))
            continue;
        find_names(source, &found);
        if (found.count)
            rewrite(source, &found, &before);
        for (size_t k = 0; k < found.count; k++)
            free((void *)(uintptr_t)found.list[k].name.data);
        free(found.list);
    }
}
