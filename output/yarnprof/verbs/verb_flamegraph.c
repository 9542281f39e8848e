/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/load/load_trace.h"
#include "output/export/page/page.h"
#include "output/export/page/spans.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/new_file.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/saved_view.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/sched.h"

enum { TABLE_ROWS = 1000 };

struct request {
    struct yarn_select select;
    const char *path;   /* NULL: standard output */
    const char *before; /* NULL: nothing to compare with */
    const char *title;
    const char *couplebreak; /* NULL: off */
    const char *load, *time; /* NULL: not asked for */
    bool is_trace;           /* what is shown is no dump */
    bool has_all_frames, has_lines;
    struct yarn_saved_view saved;
    struct yarn_stream_list streams;
    struct yarn_page_stream *page_streams; /* owned: as many as streams */
    uint64_t nr_unread;
    char *tables; /* owned; NULL: none */
};

static const struct yarn_argument arguments[] = {
    {"output", 'o', "FILE", "write there; - is standard output", YARN_ARGUMENT_OUTPUT},
    {"before", 0, "DUMP", "an earlier dump, or folder, to compare with: colours show the change",
     YARN_ARGUMENT_INTO(struct request, before)},
    {"title", 0, "TEXT", "of the page (the command that was recorded)",
     YARN_ARGUMENT_INTO(struct request, title)},
    {"couplebreak", 0, "[=STREAM,...]",
     "open with the targets of switches and wakings, of these pids or files",
     YARN_ARGUMENT_INTO(struct request, couplebreak)},
    {"all-frames", 0, NULL,
     "Python's interpreter between functions of Python, too, where these have names",
     YARN_ARGUMENT_INTO(struct request, has_all_frames)},
    {"lines", 0, NULL, "lines of the source of the chosen function, where they are known",
     YARN_ARGUMENT_INTO(struct request, has_lines)},
    {"load", 0, "FILE.json", "show what `yarnprof sched --save` wrote down",
     YARN_ARGUMENT_INTO(struct request, load)},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Other options:", 0},
    {"help", 'h', NULL, "this text", YARN_ARGUMENT_HELP},
    {0},
};

/* One of the profiles that the page shows. */
struct side {
    struct yarn_profile profile;
    struct yarn_slices slices;
    struct yarn_sched_log sched;
    bool is_loaded;
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case YARN_ARGUMENT_OUTPUT:
        request->path = value;
        return 0;
    case YARN_ARGUMENT_TIME:
        request->time = value;
        return yarn_select_take(&request->select, id, value, ret_right);
    default:
        return yarn_select_take(&request->select, id, value, ret_right);
    }
}

static int fail(const struct request *request, int err)
{
    yarn_complain("flamegraph", "%s: %s", request->path ? request->path : "standard output",
                  yarn_new_file_why(err));
    return YARN_STATUS_FAILED;
}

static bool are_streams_asked(const struct request *request)
{
    return request->couplebreak || request->load;
}

/* An exit status, or -1 for success. Why no more switches: too many are no events of the page. */
static int load(struct request *request, char *const *paths, struct side *side)
{
    struct yarn_load_options options = {
        .frames = request->has_lines ? YARN_FRAMES_BY_LINE : YARN_FRAMES_BY_FUNCTION,
        .folds_glue = !request->has_all_frames,
        .take_sample = yarn_slices_take,
        .take_self = &side->slices,
    };
    side->sched = YARN_SCHED_LOG_EMPTY;
    side->sched.has_cores = !request->before;
    if (!request->before) {
        options.sched = &side->sched;
        options.streams = &request->streams;
        request->streams.has_no_samples = true;
        if (!are_streams_asked(request) && !request->time)
            request->streams.switches_most = YARN_PAGE_ENTRIES_MAX;
    }
    yarn_slices_init(&side->slices, &request->select.filter);
    int status = yarn_select_load_view("flamegraph", &request->select,
                                       request->has_lines ? YARN_SELECT_LINES : 0, paths, &options,
                                       &side->profile);
    side->is_loaded = status < 0;
    return status;
}

/* A trace.dat: its threads' time on cores stands for samples. An exit status, or -1. */
static int load_trace(struct request *request, char *const *paths, struct side *side)
{
    int status = -1;
    side->sched = YARN_SCHED_LOG_EMPTY;
    side->sched.has_cores = true;
    yarn_slices_init(&side->slices, &request->select.filter);
    int err = yarn_profile_init(&side->profile);
    side->is_loaded = !err;
    for (; !err && status < 0 && *paths; paths++)
        status = yarn_stream_list_add(&request->streams, "flamegraph", *paths);
    for (size_t i = 0; status < 0 && !err && i < request->streams.count; i++)
        err = yarn_profile_load_trace(&side->profile, request->streams.list[i], &side->sched);
    if (status >= 0)
        return status;
    yarn_time_range_on_clock(&request->select.time, side->profile.start_ns, 0, &side->sched.from_ns,
                             &side->sched.to_ns);
    if (!err)
        err = yarn_sched_log_sort(&side->sched);
    if (!err)
        err = yarn_page_spans_add(&side->profile, &side->sched, &side->slices);
    if (err)
        yarn_complain("flamegraph", "%s", yarn_memory_why(err));
    return err ? YARN_STATUS_FAILED : -1;
}

static void side_fini(struct side *side)
{
    yarn_slices_fini(&side->slices);
    yarn_sched_log_fini(&side->sched);
    if (side->is_loaded)
        yarn_profile_fini(&side->profile);
}

static bool is_recorded(const struct yarn_sched_log *sched)
{
    for (size_t i = 0; i < sched->nr_lives; i++)
        if (sched->lives[i].is_recorded)
            return true;
    return false;
}

/* Targets of all streams are in the page, which shows those that were asked for. */
static int couplebreak(struct request *request)
{
    int status = -1;
    size_t count = request->streams.count;
    if (request->load)
        status =
            yarn_saved_view_apply(&request->saved, "flamegraph", request->load, &request->streams);
    if (status < 0 && request->couplebreak)
        status =
            yarn_stream_list_couplebreak(&request->streams, "flamegraph", request->couplebreak);
    request->page_streams = calloc(count + 1, sizeof *request->page_streams);
    int err = request->page_streams ? 0 : -ENOMEM;
    for (size_t i = 0; status < 0 && !err && i < count; i++) {
        struct yarn_stream *stream = request->streams.list[i];
        request->page_streams[i] = (struct yarn_page_stream){stream, stream->is_on};
        err = yarn_stream_couplebreak(stream, true);
    }
    return err ? fail(request, err) : status;
}

/* Threads come onto a core and leave it: two events, of what is looked at. */
static uint64_t count_switches(const struct yarn_sched_log *sched)
{
    uint64_t count = 0;
    for (size_t i = 0; i < sched->nr_spans; i++)
        if (sched->spans[i].begin_ns >= sched->from_ns && sched->spans[i].begin_ns <= sched->to_ns)
            count += 2;
    return count;
}

/* Waits, wakers and holders, as `yarnprof sched --wakers --wait-for-core --format=json` has them.
 */
static int make_tables(struct request *request, struct side *side)
{
    struct yarn_sched_view view = {.profile = &side->profile,
                                   .sched = &side->sched,
                                   .has_wakers = true,
                                   .has_cores = true,
                                   .limit = TABLE_ROWS};
    size_t size;
    struct yarn_out out = {.format = YARN_OUT_JSON,
                           .file = open_memstream(&request->tables, &size)};
    if (!out.file)
        return -ENOMEM;
    int err = yarn_sched_view_build(&view, &request->select.choices[0]);
    if (!err)
        err = yarn_out_begin_json(&out);
    if (!err)
        err = yarn_sched_print(&view, &out);
    yarn_out_end_json(&out);
    yarn_sched_view_fini(&view);
    return fclose(out.file) && !err ? -ENOMEM : err;
}

/* When threads ran, and single events, unless they are too many. An exit status, or -1. */
static int load_sched(struct request *request, struct side *side)
{
    bool is_asked = are_streams_asked(request);
    if (request->before || (!is_recorded(&side->sched) && !is_asked))
        return -1;
    int err = request->is_trace ? 0 : yarn_sched_log_sort(&side->sched);
    if (!err)
        err = make_tables(request, side);
    if (err)
        return fail(request, err);
    if (!request->is_trace && !is_asked && count_switches(&side->sched) > YARN_PAGE_ENTRIES_MAX) {
        request->nr_unread = count_switches(&side->sched);
        yarn_stream_list_fini(&request->streams);
    }
    return couplebreak(request);
}

static int write_page(const struct request *request, struct side *before, struct side *after)
{
    struct yarn_new_file file;
    bool is_part = yarn_select_is_part(&request->select);
    const struct yarn_choice *choices = request->select.choices;
    struct yarn_page page = {
        .sides = {{.profile = request->before ? &before->profile : NULL,
                   .choice = &choices[1],
                   .slices = &before->slices,
                   .is_part = is_part},
                  {.profile = &after->profile,
                   .choice = &choices[0],
                   .slices = &after->slices,
                   .sched = request->page_streams ? &after->sched : NULL,
                   .is_part = is_part}},
        .title =
            request->title || !request->is_trace ? request->title : request->streams.list[0]->path,
        .streams = request->page_streams,
        .nr_streams = request->page_streams ? request->streams.count : 0,
        .nr_unread = request->nr_unread,
        .tables = request->tables,
    };
    int err = yarn_new_file_open(&file, request->path, YARN_NEW_FILE_BOUNDED);
    if (err)
        return fail(request, err);
    err = yarn_page_write(&page, file.file);
    if (!err)
        err = yarn_new_file_commit(&file);
    yarn_new_file_abandon(&file);
    return err ? fail(request, err) : YARN_STATUS_OK;
}

static int make_page(struct request *request, char *const *paths, struct side *before,
                     struct side *after)
{
    int status = yarn_stream_list_kind("flamegraph", paths, &request->is_trace);
    if (status < 0 && request->is_trace && request->before) {
        yarn_complain("flamegraph", "--before compares dumps: %s is a trace", *paths);
        status = YARN_STATUS_USAGE;
    }
    if (status < 0)
        status =
            request->is_trace ? load_trace(request, paths, after) : load(request, paths, after);
    if (status < 0 && request->before)
        status = load(request, (char *const[]){(char *)request->before, NULL}, before);
    if (status < 0)
        status = yarn_select_choose(
            "flamegraph", &request->select,
            (const struct yarn_profile *const[]){&after->profile, &before->profile},
            request->before ? 2 : 1);
    if (status < 0)
        status = load_sched(request, after);
    return status < 0 ? write_page(request, before, after) : status;
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    struct side before = {0}, after = {0};
    char **saved_paths = NULL;
    int status = -1;
    if (yarn_new_file_is_terminal(request->path)) {
        yarn_complain("flamegraph", "a page is nothing for a terminal: name a file with -o");
        return YARN_STATUS_USAGE;
    }
    const char *ending = request->path ? strrchr(request->path, '.') : NULL;
    if (ending && strcmp(ending, ".svg") == 0) {
        yarn_complain("flamegraph",
                      "-o %s: the page is HTML: -o page.html (export --to=folded has "
                      "what flamegraph.pl makes a .svg of)",
                      request->path);
        return YARN_STATUS_USAGE;
    }
    if (request->before && request->couplebreak) {
        yarn_complain("flamegraph", "--couplebreak is of one recording, --before compares two");
        return YARN_STATUS_USAGE;
    }
    if (request->load)
        status = yarn_saved_view_open(&request->saved, "flamegraph", request->load, operands,
                                      request->time != NULL, &request->select, &saved_paths);
    if (status < 0)
        status = make_page(request, saved_paths ? saved_paths : operands, &before, &after);
    side_fini(&before);
    side_fini(&after);
    free(saved_paths);
    return status;
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_saved_view_fini(&request->saved);
    free(request->page_streams);
    free(request->tables);
    yarn_stream_list_fini(&request->streams);
    yarn_select_fini(&request->select);
}

const struct yarn_command yarn_verb_flamegraph = {
    .verb = "flamegraph",
    .operands = "FILE... -o PAGE.html",
    .about = "Writes one page that works offline: flame graph, timeline of threads, table of "
             "functions.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.select = YARN_SELECT_EMPTY},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
