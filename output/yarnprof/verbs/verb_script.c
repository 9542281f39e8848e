/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/memory.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/script.h"

enum { FIELDS = YARN_ARGUMENT_OWN, NO_HEADER, SAMPLES_ONLY, COUPLEBREAK };

static const struct yarn_argument arguments[] = {
    {"fields", 'F', "LIST",
     "comm, pid, tid, cpu, time, period, event, ip, sym, symoff, dso; +NAME, -NAME", FIELDS},
    {"samples", 0, NULL, "samples only: no other records", SAMPLES_ONLY},
    {"couplebreak", 0, "[=STREAM,...]",
     "behind switches and wakings their targets, of these pids or files", COUPLEBREAK},
    {"no-header", 0, NULL, "without the lines that begin with #", NO_HEADER},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_ARGUMENTS,
    {0},
};

struct request {
    struct yarn_view view;
    struct yarn_script script;
    const char *couplebreak; /* NULL: off */
    struct yarn_stream_list streams;
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case FIELDS:
        *ret_right =
            "a comma-separated list of comm, pid, tid, cpu, time, period, event, ip, sym, symoff, "
            "dso (or each with + or - before it)";
        return yarn_script_parse_fields(value, &request->script.fields);
    case NO_HEADER:
        request->script.has_no_header = true;
        return 0;
    case SAMPLES_ONLY:
        request->script.is_samples_only = true;
        return 0;
    case COUPLEBREAK:
        request->couplebreak = value ? value : "";
        return 0;
    default:
        return yarn_view_take(&request->view, id, value, ret_right);
    }
}

static int show(struct request *request, struct yarn_timeline *timeline)
{
    struct yarn_script *script = &request->script;
    int err = yarn_timeline_sort(timeline);
    if (err) {
        yarn_complain("script", "%s", yarn_memory_why(err));
        return YARN_STATUS_FAILED;
    }
    int status = yarn_out_open(&request->view.out, "script");
    if (status >= 0)
        return status;
    err = yarn_script_print(script, timeline, &request->view.out);
    return yarn_out_finish(&request->view.out, "script", err);
}

/* An exit status, or -1. */
static int open_streams(struct request *request, char *const *paths,
                        const struct yarn_profile *profile)
{
    if (!request->couplebreak)
        return -1;
    int status = yarn_stream_list_add_dumps(&request->streams, "script", paths, profile);
    if (status < 0)
        status = yarn_stream_list_couplebreak(&request->streams, "script", request->couplebreak);
    request->script.streams = &request->streams;
    return status;
}

static int run_dumps(struct request *request, char *const *paths)
{
    struct yarn_timeline timeline = {.most = YARN_TIMELINE_MOST};
    struct yarn_load_options options = {.timeline = &timeline, .has_scheduling = true};
    struct yarn_profile profile;
    int status =
        yarn_select_load_view("script", &request->view.select, 0, paths, &options, &profile);
    if (status < 0) {
        request->script.profile = &profile;
        request->script.choice = &request->view.select.choices[0];
        struct yarn_filter known = request->view.select.filter;
        if (request->couplebreak) /* whose targets have events that no dump knows */
            known.lists[YARN_FILTER_EVENT] = NULL;
        status = open_streams(request, paths, &profile);
        if (status < 0)
            status = yarn_select_choose_records("script", &request->view.select, &known, &profile);
        if (status < 0)
            status = show(request, &timeline);
        yarn_profile_fini(&profile);
    }
    yarn_timeline_fini(&timeline);
    return status;
}

static int run_traces(struct request *request, char *const *paths)
{
    struct yarn_script *script = &request->script;
    struct yarn_stream_view shown = {.filter = script->filter, .time = request->view.select.time};
    int status = -1;
    if (yarn_filter_is_by_function(script->filter)) {
        yarn_complain("script", "a trace.dat has neither modules nor functions");
        return YARN_STATUS_USAGE;
    }
    for (; status < 0 && *paths; paths++)
        status = yarn_stream_list_add(&request->streams, "script", *paths);
    if (status < 0 && request->couplebreak)
        status = yarn_stream_list_couplebreak(&request->streams, "script", request->couplebreak);
    if (status < 0)
        status = yarn_out_open(&request->view.out, "script");
    if (status >= 0)
        return status;
    script->streams = &request->streams;
    yarn_script_streams(script, &shown, &request->view.out);
    return yarn_out_finish(&request->view.out, "script", 0);
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    bool is_trace;
    request->script.filter = &request->view.select.filter;
    int status = yarn_stream_list_kind("script", operands, &is_trace);
    if (status >= 0)
        return status;
    return is_trace ? run_traces(request, operands) : run_dumps(request, operands);
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_stream_list_fini(&request->streams);
    yarn_select_fini(&request->view.select);
}

const struct yarn_command yarn_verb_script = {
    .verb = "script",
    .operands = "FILE...",
    .about = "Prints every record as text in time order, in the layout of perf script.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.view = YARN_VIEW_EMPTY,
                                       .script = {.fields = YARN_SCRIPT_FIELDS_DEFAULT}},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
