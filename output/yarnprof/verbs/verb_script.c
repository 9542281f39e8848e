/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/view.h"
#include "output/yarnprof/stream/status.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/script.h"

enum { FIELDS = YARN_ARGUMENT_OWN, NO_HEADER, SAMPLES_ONLY };

static const struct yarn_argument arguments[] = {
    {"fields", 'F', "LIST",
     "comm, pid, tid, cpu, time, period, event, ip, sym, symoff, dso; +NAME, -NAME", FIELDS},
    {"samples", 0, NULL, "samples only: no other records", SAMPLES_ONLY},
    {"no-header", 0, NULL, "without the lines that begin with #", NO_HEADER},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_ARGUMENTS,
    {0},
};

struct request {
    struct yarn_view view;
    struct yarn_script script;
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
    default:
        return yarn_view_take(&request->view, id, value, ret_right);
    }
}

static const struct yarn_command command = {
    .verb = "script",
    .operands = "FILE…",
    .about = "Prints every record as text in time order, in the layout of perf script.",
    .arguments = arguments,
    .take = take,
};

static int show(struct request *request, struct yarn_timeline *timeline)
{
    struct yarn_script *script = &request->script;
    int err = yarn_timeline_sort(timeline);
    if (err) {
        yarn_complain("script", "%s", strerror(-err));
        return YARN_STATUS_FAILED;
    }
    int status = yarn_out_open(&request->view.out, "script");
    if (status >= 0)
        return status;
    err = yarn_script_print(script, timeline, &request->view.out);
    return yarn_out_finish(&request->view.out, "script", err);
}

static int load(const struct request *request, char *const *paths, struct yarn_timeline *timeline,
                struct yarn_profile *ret_profile)
{
    struct yarn_load_options options = {.timeline = timeline, .has_scheduling = true};
    return yarn_select_load_view("script", &request->view.select, 0, paths, &options, ret_profile);
}

int yarn_verb_script(int argc, char **argv)
{
    struct request request = {
        .view = YARN_VIEW_EMPTY,
        .script = {.fields = YARN_SCRIPT_FIELDS_DEFAULT},
    };
    struct yarn_command mine = command;
    struct yarn_timeline timeline = {.most = YARN_TIMELINE_MOST};
    int first;
    mine.self = &request;
    int status = yarn_command_parse(&mine, argc, argv, &first);
    if (status < 0) {
        struct yarn_profile profile;
        status = load(&request, argv + first, &timeline, &profile);
        if (status < 0) {
            request.script.profile = &profile;
            request.script.filter = &request.view.select.filter;
            request.view.select.time = YARN_TIME_RANGE_ALL; /* not only samples lie in it */
            status = yarn_select_check("script", &request.view.select,
                                       (const struct yarn_profile *const[]){&profile}, 1);
            if (status < 0)
                status = show(&request, &timeline);
            yarn_profile_fini(&profile);
        }
    }
    yarn_timeline_fini(&timeline);
    yarn_select_fini(&request.view.select);
    return status;
}
