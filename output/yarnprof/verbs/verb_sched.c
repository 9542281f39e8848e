/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/load/load_trace.h"
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/saved_view.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/sched.h"

enum { BY = YARN_ARGUMENT_OWN, ROWS_OF_TEXT = 40 };

struct request {
    struct yarn_view view;
    bool is_timeline, has_wakers, has_cores, is_by_process;
    bool is_trace;                         /* what is looked at is no dump */
    const char *couplebreak, *save, *load; /* NULL: not asked for */
    const char *time;
    struct yarn_stream_list streams;
    struct yarn_stream_view shown;
    struct yarn_saved_view saved;
};

static const struct yarn_argument arguments[] = {
    {"timeline", 0, NULL, "a line a thread: what it did when",
     YARN_ARGUMENT_INTO(struct request, is_timeline)},
    {"wakers", 0, NULL, "who woke whom, and how long that then waited for a core",
     YARN_ARGUMENT_INTO(struct request, has_wakers)},
    {"wait-for-core", 0, NULL, "who was on the core while a thread waited for it",
     YARN_ARGUMENT_INTO(struct request, has_cores)},
    {"by", 0, "thread|process", "with --wait-for-core: a row a pair of these (thread)", BY},
    {"couplebreak", 0, "[=STREAM,...]",
     "events with the targets of switches and wakings, of these pids or files",
     YARN_ARGUMENT_INTO(struct request, couplebreak)},
    {"save", 0, "FILE.json", "write down what is looked at",
     YARN_ARGUMENT_INTO(struct request, save)},
    {"load", 0, "FILE.json", "look at what was written down",
     YARN_ARGUMENT_INTO(struct request, load)},
    YARN_VIEW_LIMIT_ARGUMENT("so many threads, or events (all)"),
    {"", 0, NULL, "What is looked at (LIST: separated by commas):", 0},
    {"event", 0, "LIST", "with --couplebreak: these events (names, shell patterns)",
     YARN_ARGUMENT_EVENT},
    {"thread", 0, "LIST", "these threads (names or tids)", YARN_ARGUMENT_THREAD},
    {"tid", 0, "LIST", "the same", YARN_ARGUMENT_THREAD},
    {"process", 0, "LIST", "these processes (names or pids)", YARN_ARGUMENT_PROCESS},
    {"comm", 0, "LIST", "threads of these names", YARN_ARGUMENT_COMM},
    {"time", 0, "A..B", "from A to B after the start (2s..500ms), or @clock..@clock",
     YARN_ARGUMENT_TIME},
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case YARN_ARGUMENT_TIME:
        request->time = value;
        break;
    case BY:
        request->is_by_process = strcmp(value, "process") == 0;
        *ret_right = "thread or process";
        return request->is_by_process || strcmp(value, "thread") == 0 ? 0 : -EINVAL;
    default:
        break;
    }
    return yarn_view_take(&request->view, id, value, ret_right);
}

/* Whoever was on the machine may have had the core. */
static size_t rows_of_text(const struct request *request)
{
    return request->has_cores ? ROWS_OF_TEXT : 0;
}

static int show(struct request *request, const struct yarn_profile *profile,
                struct yarn_sched_log *sched)
{
    struct yarn_sched_view view = {.profile = profile,
                                   .sched = sched,
                                   .is_timeline = request->is_timeline,
                                   .has_wakers = request->has_wakers,
                                   .has_cores = request->has_cores,
                                   .is_by_process = request->is_by_process,
                                   .shown = &request->shown,
                                   .limit = yarn_view_limit(&request->view, rows_of_text(request))};
    if (request->couplebreak)
        view.streams = &request->streams;
    int err = yarn_sched_log_sort(sched);
    if (!err)
        err = yarn_sched_view_build(&view, &request->view.select.choices[0]);
    int status = err ? -1 : yarn_out_open(&request->view.out, "sched");
    if (!err && status < 0)
        err = yarn_sched_print(&view, &request->view.out);
    if (status < 0)
        status = yarn_out_finish(&request->view.out, "sched", err);
    yarn_sched_view_fini(&view);
    return status;
}

static int couplebreak(struct request *request)
{
    int status = -1;
    if (request->load)
        status = yarn_saved_view_apply(&request->saved, "sched", request->load, &request->streams);
    if (status < 0 && request->couplebreak)
        status = yarn_stream_list_couplebreak(&request->streams, "sched", request->couplebreak);
    for (size_t i = 0; !request->couplebreak && i < request->saved.count; i++)
        if (request->saved.streams[i].has_couplebreak)
            request->couplebreak = "";
    request->shown.filter = &request->view.select.filter;
    request->shown.time = request->view.select.time;
    request->shown.limit = yarn_view_limit(&request->view, 0);
    return status;
}

static int save(const struct request *request)
{
    if (!request->save)
        return -1;
    return yarn_saved_view_save("sched", request->save, &request->streams,
                                request->view.select.filter.lists, request->time);
}

static int load_traces(struct request *request, char *const *paths, struct yarn_sched_log *sched,
                       struct yarn_profile *ret_profile)
{
    int status = -1, err = yarn_profile_init(ret_profile);
    if (err) {
        yarn_complain("sched", "%s", yarn_memory_why(err));
        return YARN_STATUS_FAILED;
    }
    for (; status < 0 && *paths; paths++)
        status = yarn_stream_list_add(&request->streams, "sched", *paths);
    for (size_t i = 0; status < 0 && i < request->streams.count; i++) {
        struct yarn_stream *stream = request->streams.list[i];
        err = yarn_profile_load_trace(ret_profile, stream, sched);
        if (err)
            yarn_complain("sched", "%s: %s", stream->path, yarn_memory_why(err));
        status = err ? YARN_STATUS_FAILED : -1;
    }
    yarn_time_range_on_clock(&request->view.select.time, ret_profile->start_ns, 0, &sched->from_ns,
                             &sched->to_ns);
    if (status >= 0)
        yarn_profile_fini(ret_profile);
    return status;
}

static int load_dumps(struct request *request, char *const *paths, struct yarn_sched_log *sched,
                      struct yarn_profile *ret_profile)
{
    const bool has_streams = request->couplebreak || request->save || request->load;
    struct yarn_load_options options = {
        .sched = sched,
        .streams = has_streams ? &request->streams : NULL,
        .has_no_threads = true,
        .has_no_code = !request->has_wakers,
        .frames = YARN_FRAMES_BY_FUNCTION,
    };
    return yarn_select_load_view("sched", &request->view.select, 0, paths, &options, ret_profile);
}

/* Without couplebreak no event is shown. */
static int choose(struct request *request, const struct yarn_profile *profile)
{
    struct yarn_filter known = request->view.select.filter;
    request->shown.profile = profile;
    if (request->couplebreak)
        yarn_stream_list_narrow(&request->streams, profile, &known);
    else
        known.lists[YARN_FILTER_EVENT] = NULL;
    return yarn_select_choose_records("sched", &request->view.select, &known, profile);
}

static int load_and_show(struct request *request, char *const *paths, struct yarn_sched_log *sched)
{
    struct yarn_profile profile;
    sched->has_cores = request->has_cores;
    int status = yarn_stream_list_kind("sched", paths, &request->is_trace);
    if (status < 0)
        status = request->is_trace ? load_traces(request, paths, sched, &profile)
                                   : load_dumps(request, paths, sched, &profile);
    if (status >= 0)
        return status;
    status = couplebreak(request);
    if (status < 0)
        status = save(request);
    if (status < 0)
        status = choose(request, &profile);
    if (status < 0)
        status = show(request, &profile, sched);
    yarn_profile_fini(&profile);
    return status;
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    struct yarn_sched_log sched = YARN_SCHED_LOG_EMPTY;
    char **paths = NULL;
    int status = -1;
    if (request->load)
        status = yarn_saved_view_open(&request->saved, "sched", request->load, operands,
                                      request->time != NULL, &request->view.select, &paths);
    if (status < 0)
        status = load_and_show(request, paths ? paths : operands, &sched);
    free(paths);
    yarn_sched_log_fini(&sched);
    return status;
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_stream_list_fini(&request->streams);
    yarn_saved_view_fini(&request->saved);
    yarn_select_fini(&request->view.select);
}

const struct yarn_command yarn_verb_sched = {
    .verb = "sched",
    .operands = "FILE...",
    .about = "Shows of each thread how long it ran, waited for a core and was blocked.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.view = YARN_VIEW_EMPTY},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
