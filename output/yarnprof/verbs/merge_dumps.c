/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/verbs/merge_dumps.h"

#include <inttypes.h>

#include "output/dump/merger.h"
#include "output/yarnprof/io/new_file.h"
#include "output/yarnprof/io/progress.h"
#include "output/yarnprof/io/status.h"

static int fail(const char *verb, const char *path, int err)
{
    yarn_complain(verb, "%s: %s", path ? path : "standard output",
                  err == -EOVERFLOW
                      ? "these are more than the 65,536 processes that a dump can hold"
                      : yarn_new_file_why(err));
    return YARN_STATUS_FAILED;
}

static int put(void *self, struct yarn_span bytes)
{
    return fwrite(bytes.data, 1, bytes.size, self) == bytes.size ? 0 : errno ? -errno : -EIO;
}

static void report_damage(const char *verb, const char *path,
                          const struct yarn_dump_summary *summary)
{
    if (summary->nr_damages)
        yarn_complain(verb,
                      "%s: damaged at offset %" PRIu64 ": %s; %" PRIu64
                      " bytes skipped in all, the rest is merged",
                      path, summary->damages[0].offset, summary->damages[0].why,
                      summary->damaged_bytes);
    if (summary->is_cut)
        yarn_complain(verb, "%s: cut: nothing from offset %" PRIu64 " on, the rest is merged", path,
                      summary->cut_at);
}

/* 0, or the status of a failure that was reported. */
static int merge(const char *verb, const struct yarn_sources *sources, const char *path, FILE *file)
{
    struct yarn_dump_merger merger;
    uint16_t minor = 0;
    for (size_t i = 0; i < sources->count; i++) {
        if (sources->list[i].version_minor > minor)
            minor = sources->list[i].version_minor;
    }
    int err = yarn_dump_merger_open(&merger, minor, put, file);
    int status = err ? fail(verb, path, err) : 0;
    struct yarn_progress progress = yarn_progress_begin("merging");
    uint64_t done = 0, all = yarn_sources_bytes(sources);
    for (size_t i = 0; !status && i < sources->count; i++) {
        struct yarn_dump_summary summary;
        yarn_progress_show(&progress, done, all);
        done += sources->list[i].bytes;
        err = yarn_dump_merger_add_file(&merger, sources->list[i].path, &summary);
        if (err || summary.nr_damages || summary.is_cut)
            yarn_progress_end(&progress);
        if (err)
            status = fail(verb, ferror(file) ? path : sources->list[i].path, err);
        else
            report_damage(verb, sources->list[i].path, &summary);
    }
    yarn_progress_end(&progress);
    yarn_dump_merger_close(&merger);
    return status;
}

int yarn_merge_dumps(const char *verb, const struct yarn_sources *sources, const char *path)
{
    struct yarn_new_file file;
    for (size_t i = 0; i < sources->count; i++)
        yarn_new_file_keep(sources->list[i].path);
    int err = yarn_new_file_open(&file, path, YARN_NEW_FILE_PLAIN);
    if (err)
        return fail(verb, path, err);
    int status = merge(verb, sources, path, file.file);
    if (!status) {
        err = yarn_new_file_commit(&file);
        return err ? fail(verb, path, err) : YARN_STATUS_OK;
    }
    yarn_new_file_abandon(&file);
    return status;
}
