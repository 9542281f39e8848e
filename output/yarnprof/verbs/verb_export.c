/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/export/export.h"
#include "output/export/samples.h"
#include "output/yarnprof/io/new_file.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"

enum { TO = YARN_ARGUMENT_OWN };

struct request {
    struct yarn_select select;
    const struct yarn_export_format *format;
    const char *path; /* NULL: standard output */
    bool has_no_lines;
    /* What the format needs beside the profile. */
    struct yarn_timeline timeline;
    struct yarn_sched_log sched;
};

static const struct yarn_argument arguments[] = {
    {"to", 't', "FORMAT", YARN_EXPORT_FORMATS, TO},
    {"output", 'o', "FILE", "write there; - is standard output", YARN_ARGUMENT_OUTPUT},
    {"no-lines", 0, NULL, "leave the source out, which takes no debug information",
     YARN_ARGUMENT_INTO(struct request, has_no_lines)},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Other options:", 0},
    {"help", 'h', NULL, "this text", YARN_ARGUMENT_HELP},
    {0},
};

static int take_format(struct request *request, const char *name, const char **ret_right)
{
    const struct yarn_export_format *format;
    *ret_right = YARN_EXPORT_FORMATS;
    for (size_t i = 0; (format = yarn_export_format(i)); i++) {
        if (strcmp(format->name, name) == 0) {
            request->format = format;
            return 0;
        }
    }
    return -EINVAL;
}

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case TO:
        return take_format(request, value, ret_right);
    case YARN_ARGUMENT_OUTPUT:
        request->path = value;
        return 0;
    default:
        return yarn_select_take(&request->select, id, value, ret_right);
    }
}

static int fail(const struct request *request, const struct yarn_export *export, int err)
{
    if (err == -EFBIG && !(export && export->why[0]))
        yarn_complain("export", "it would be larger than " YARN_NEW_FILE_MOST);
    else
        yarn_complain("export", "%s: %s", request->path ? request->path : "standard output",
                      export && export->why[0] ? export->why : yarn_new_file_why(err));
    return YARN_STATUS_FAILED;
}

/* A format without room for several events gets the first that has samples, and the others are
 * named: events are never added up. */
static int keep_one_event(const struct yarn_export *export)
{
    const struct yarn_profile *profile = export->profile;
    struct yarn_sum *totals = yarn_export_totals(export);
    uint32_t kept = YARN_DUMP_NONE;
    if (!totals)
        return -ENOMEM;
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        if (!totals[i].samples)
            continue;
        if (kept == YARN_DUMP_NONE) {
            kept = i;
            continue;
        }
        export->choice->events[i] = 0;
        yarn_complain("export", "this format holds one event: %s is written, %s is not (--event)",
                      yarn_profile_text(profile, profile->events[kept].name),
                      yarn_profile_text(profile, profile->events[i].name));
    }
    free(totals);
    return 0;
}

static int write_file(const struct request *request, struct yarn_export *export)
{
    struct yarn_new_file file;
    unsigned needs = request->format->needs;
    int err = yarn_new_file_open(&file, request->path,
                                 needs & YARN_EXPORT_FILE     ? YARN_NEW_FILE_SEEKABLE
                                 : needs & YARN_EXPORT_BINARY ? YARN_NEW_FILE_PLAIN
                                                              : YARN_NEW_FILE_BOUNDED);
    if (err)
        return fail(request, NULL, err);
    export->file = file.file;
    export->path = file.beside;
    err = request->format->write(export);
    if (!err)
        err = yarn_new_file_commit(&file);
    yarn_new_file_abandon(&file);
    if (!err && export->note[0])
        yarn_complain("export", "%s", export->note);
    return err ? fail(request, export, err) : YARN_STATUS_OK;
}

static int show(void *self, struct yarn_profile *profile)
{
    struct request *request = self;
    struct yarn_timeline *timeline = &request->timeline;
    unsigned needs = request->format->needs;
    int err = yarn_timeline_sort(timeline);
    if (!err)
        err = yarn_sorter_gather(&timeline->rows);
    if (err)
        return fail(request, NULL, err);
    struct yarn_export export = {
        .profile = profile,
        .timeline = needs & YARN_EXPORT_TIMES ? timeline : NULL,
        .choice = &request->select.choices[0],
        .sched = &request->sched,
        .is_part = yarn_select_is_part(&request->select),
        .version = YARN_VERSION,
        .most_bytes = yarn_new_file_allowed(),
    };
    err = needs & YARN_EXPORT_ONE_EVENT ? keep_one_event(&export) : 0;
    return err ? fail(request, NULL, err) : write_file(request, &export);
}

static int load_and_export(struct request *request, char *const *paths)
{
    unsigned needs = request->format->needs;
    request->timeline.rows.most = YARN_SORTER_MOST;
    request->timeline.order =
        needs & YARN_EXPORT_TRACKS ? YARN_TIMELINE_BY_TRACK : YARN_TIMELINE_BY_TIME;
    request->sched = YARN_SCHED_LOG_EMPTY;
    struct yarn_load_options options = {
        .by_cpu = needs & YARN_EXPORT_CPUS,
        .has_no_threads = !(needs & (YARN_EXPORT_THREADS | YARN_EXPORT_TIMES)) &&
                          !yarn_filter_is_by_thread(&request->select.filter),
        .timeline = needs & YARN_EXPORT_TIMES ? &request->timeline : NULL,
        .has_scheduling = needs & YARN_EXPORT_RAW,
        .has_raw = needs & YARN_EXPORT_RAW,
        .sched = needs & YARN_EXPORT_RAW ? &request->sched : NULL,
        .frames = request->format->frames,
    };
    unsigned shown = 0;
    if (needs & YARN_EXPORT_LINES && !request->has_no_lines)
        shown |= YARN_SELECT_LINES;
    if (needs & YARN_EXPORT_INLINES && !request->has_no_lines)
        shown |= YARN_SELECT_INLINES;
    return yarn_select_show("export", &request->select, shown, paths, &options, show, request);
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    if (!request->format) {
        yarn_complain(
            "export",
            "no format is named: --to=pprof, --to=folded and others; see yarnprof export --help");
        return YARN_STATUS_USAGE;
    }
    if (request->format->needs & YARN_EXPORT_BINARY && yarn_new_file_is_terminal(request->path)) {
        yarn_complain("export", "%s is nothing for a terminal: name a file with -o",
                      request->format->name);
        return YARN_STATUS_USAGE;
    }
    if (request->has_no_lines)
        request->select.inlines = YARN_INLINES_OFF;
    return load_and_export(request, operands);
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_sched_log_fini(&request->sched);
    yarn_sorter_fini(&request->timeline.rows);
    yarn_select_fini(&request->select);
}

const struct yarn_command yarn_verb_export = {
    .verb = "export",
    .operands = "FILE...",
    .about = "Writes dumps in another tool's format.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.select = YARN_SELECT_EMPTY},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
