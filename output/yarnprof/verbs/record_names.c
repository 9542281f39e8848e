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
#include "output/dump/merger.h"
#include "output/dump/reader.h"
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

int yarn_jit_set(void)
{
    char bytes[VALUE_BYTES] = "";
    struct yarn_text done = yarn_text_of(bytes, sizeof bytes);
    const struct yarn_runtime *runtime;
    int err = 0;
    for (size_t i = 0; !err && (runtime = yarn_runtime_at(i)); i++)
        err = runtime->is_safe ? set_one(runtime, &done) : 0;
    if (err || !done.size)
        return err;
    yarn_complain("record",
                  "--jit sets %s; Python's calls take 1.4 to 1.8 times as long with it, and its "
                  "recursion limit is reached earlier",
                  bytes);
    return yarn_launch_set(VARIABLE, bytes);
}

static int note_pid(void *self, const struct yarn_dump_process *process)
{
    *(uint32_t *)self = process->pid;
    return process->pid != 0;
}

static void remove_file(const char *path, uint64_t since_ns)
{
    struct stat status;
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        (uint64_t)status.st_mtim.tv_sec + 1 >= since_ns / YARN_NS_PER_SECOND)
        (void)unlink(path);
}

static void remove_files(uint32_t pid, uint64_t since_ns)
{
    char path[64];
    glob_t logs = {.gl_pathv = NULL};
    /* Why asked: what runs on still writes them. */
    if (kill((pid_t)pid, 0) == 0 || errno != ESRCH)
        return;
    (void)snprintf(path, sizeof path, "/tmp/perf-%u.map", pid);
    remove_file(path, since_ns);
    /* Why those: node writes them where it is started, whenever it writes the former. */
    (void)snprintf(path, sizeof path, "isolate-0x*-%u-v8.log", pid);
    if (glob(path, 0, NULL, &logs) == 0)
        for (size_t i = 0; i < logs.gl_pathc; i++)
            remove_file(logs.gl_pathv[i], since_ns);
    globfree(&logs);
}

void yarn_jit_clean_up(const struct yarn_sources *sources, uint64_t since_ns)
{
    static const struct yarn_dump_visitor visitor = {.process = note_pid};
    for (size_t i = 0; i < sources->count; i++) {
        struct yarn_dump_summary summary;
        uint32_t pid = 0;
        if (yarn_dump_read_file(sources->list[i].path, &visitor, &pid, &summary) >= 0 && pid)
            remove_files(pid, since_ns);
    }
}

struct found_names {
    struct yarn_dump_code_name *list; /* owned; and the bytes of their names */
    size_t count, capacity;
};

/* What is looked for in a dump before it is loaded. */
struct contents {
    uint64_t nr_unnamed;
    unsigned nr_processes;
    bool has_end;
};

static int on_process(void *self, const struct yarn_dump_process *process)
{
    struct contents *contents = self;
    (void)process;
    contents->nr_processes++;
    return 0;
}

static int on_totals(void *self, const struct yarn_dump_totals *totals)
{
    struct contents *contents = self;
    contents->nr_unnamed = totals->value[YARN_DUMP_TOTAL_FRAMES_UNNAMED];
    contents->has_end = false; /* what follows an END takes it back */
    return 0;
}

static int on_end(void *self, const struct yarn_dump_end *end)
{
    struct contents *contents = self;
    (void)end;
    contents->has_end = true;
    return 0;
}

static bool lacks_names(const char *path)
{
    static const struct yarn_dump_visitor visitor = {
        .process = on_process, .totals = on_totals, .end = on_end};
    struct contents contents = {.nr_unnamed = 0};
    struct yarn_dump_summary summary;
    return yarn_dump_read_file(path, &visitor, &contents, &summary) == 0 && contents.has_end &&
           contents.nr_unnamed && contents.nr_processes == 1 && !summary.nr_damages &&
           !summary.is_cut;
}

static int take_name(void *self, const struct yarn_dump_code_name *name)
{
    struct found_names *found = self;
    if (found->count == found->capacity) {
        size_t capacity = found->capacity ? 2 * found->capacity : 64;
        struct yarn_dump_code_name *list = reallocarray(found->list, capacity, sizeof *found->list);
        if (!list)
            return -ENOMEM;
        found->list = list;
        found->capacity = capacity;
    }
    uint8_t *copy = malloc(name->name.size + 1);
    if (!copy)
        return -ENOMEM;
    if (name->name.size)
        memcpy(copy, name->name.data, name->name.size);
    found->list[found->count] = *name;
    found->list[found->count++].name.data = copy;
    return 0;
}

static void find_names(const struct yarn_source *source, struct found_names *found)
{
    struct yarn_source one = *source;
    const struct yarn_sources sources = {.list = &one, .count = 1};
    struct yarn_load_options options = YARN_LOAD_SHORT;
    options.take_name = take_name;
    options.names_self = found;
    struct yarn_source_failure failure;
    struct yarn_profile profile;
    if (yarn_profile_init(&profile))
        return;
    if (yarn_profile_load(&profile, &sources, &options, &failure))
        found->count = 0; /* their bytes are lost; it is one dump that cannot be loaded */
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
            before.st_uid != geteuid() || !lacks_names(source->path))
            continue;
        find_names(source, &found);
        if (found.count)
            rewrite(source, &found, &before);
        for (size_t k = 0; k < found.count; k++)
            free((void *)(uintptr_t)found.list[k].name.data);
        free(found.list);
    }
}
