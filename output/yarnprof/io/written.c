/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/written.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "output/analysis/load/load.h"
#include "output/text/legible.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/numbers.h"

enum { NAMES_SHOWN = 8 };

/* What lies before the first letter of the pattern, up to the last slash there. */
void yarn_written_folder(const char *pattern, struct yarn_written_folder *ret_folder)
{
    struct stat status;
    char *path = ret_folder->path;
    size_t size = 0, last = 0;
    const char *at = pattern;
    for (; *at && (*at != '%' || at[1] == '%') && size < sizeof ret_folder->path - 1; at++) {
        at += *at == '%';
        path[size++] = *at;
        last = *at == '/' ? size : last;
    }
    path[size] = 0;
    bool is_folder = !*at && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    path[is_folder ? size : last] = 0;
    if (!path[0])
        (void)strcpy(path, ".");
    for (ret_folder->depth = 0; *at; at++)
        ret_folder->depth += *at == '/';
}

static bool is_since(const char *path, uint64_t since_ns)
{
    struct stat status;
    if (stat(path, &status) || !S_ISREG(status.st_mode))
        return false;
    uint64_t time_ns =
        (uint64_t)status.st_mtim.tv_sec * YARN_NS_PER_SECOND + (uint64_t)status.st_mtim.tv_nsec;
    /* Why so late: the kernel stamps files with the time of its last tick. */
    return time_ns + 20 * YARN_NS_PER_MS >= since_ns;
}

static void gather(const char *folder, unsigned depth, uint64_t since_ns,
                   struct yarn_sources *sources)
{
    struct dirent **entries = NULL;
    struct yarn_source_failure failure;
    char path[4096 + 256];
    bool is_here = strcmp(folder, ".") == 0;
    const char *slash = is_here || folder[strlen(folder) - 1] == '/' ? "" : "/";
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        (void)snprintf(path, sizeof path, "%s%s%s", is_here ? "" : folder, slash,
                       entries[i]->d_name);
        /* Other files are not reported. */
        if (is_since(path, since_ns) && yarn_sources_add(sources, path, &failure))
            (void)failure;
        if (depth && entries[i]->d_type == DT_DIR && entries[i]->d_name[0] != '.')
            gather(path, depth - 1, since_ns, sources);
        free(entries[i]);
    }
    free(entries);
}

/* Of a folder that may hold older dumps, too, only what is one file is named. */
static void suggest_next(const struct yarn_sources *sources, const char *folder)
{
    struct yarn_legible legible;
    const char *what = sources->count == 1 ? sources->list[0].path : folder;
    (void)fprintf(stderr, "[see: yarnprof report %s]\n", yarn_legible(&legible, what));
    yarn_legible_fini(&legible);
}

static void report_written(const struct yarn_sources *sources, const char *folder)
{
    struct yarn_profile profile;
    struct yarn_source_failure failure;
    struct yarn_load_options options = {
        .time = YARN_TIME_RANGE_ALL,
        .has_no_threads = true,
        .has_no_stacks = true,
        .frames = YARN_FRAMES_BY_FUNCTION,
    };
    struct yarn_trust sum = {0};
    uint64_t bytes = 0;
    if (yarn_profile_init(&profile))
        return;
    if (yarn_profile_load(&profile, sources, &options, &failure) == 0) {
        for (size_t i = 0; i < profile.nr_dumps; i++) {
            yarn_trust_add(&sum, &profile.dumps[i].trust);
            bytes += profile.dumps[i].summary.file_bytes;
        }
        (void)fprintf(stderr, "[yarn: %s, ", yarn_number_of_things(sum.samples, "sample").text);
        (void)fprintf(stderr, "%s, %s]\n", yarn_number_of_things(sources->count, "dump").text,
                      yarn_number_bytes(bytes).text);
        for (size_t i = 0; i < sources->count && i < NAMES_SHOWN; i++) {
            struct yarn_legible legible;
            (void)fprintf(stderr, "  %s\n", yarn_legible(&legible, sources->list[i].path));
            yarn_legible_fini(&legible);
        }
        if (sources->count > NAMES_SHOWN)
            (void)fprintf(stderr, "  and %zu more in %s\n", sources->count - NAMES_SHOWN, folder);
        suggest_next(sources, folder);
    }
    yarn_profile_fini(&profile);
}

void yarn_written_find(const struct yarn_written_folder *folder, uint64_t since_ns,
                       struct yarn_sources *ret_sources)
{
    *ret_sources = (struct yarn_sources){0};
    gather(folder->path, folder->depth, since_ns, ret_sources);
}

bool yarn_written_report(const struct yarn_written_folder *folder, uint64_t since_ns,
                         bool is_terminal)
{
    struct yarn_sources sources;
    yarn_memory_bound();
    yarn_written_find(folder, since_ns, &sources);
    yarn_sources_sort(&sources);
    bool is_any = sources.count != 0;
    if (is_any && is_terminal)
        report_written(&sources, folder->path);
    yarn_sources_fini(&sources);
    return is_any;
}
