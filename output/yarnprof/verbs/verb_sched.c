/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/options/view.h"
#include "output/yarnprof/stream/status.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/sched.h"

enum { TIMELINE = YARN_ARGUMENT_OWN, WAKERS };

static const struct yarn_argument arguments[] = {
    {"timeline", 0, NULL, "a line a thread: what it did when", TIMELINE},
    {"wakers", 0, NULL, "who woke whom, and how long that then waited for a core", WAKERS},
    YARN_VIEW_LIMIT_ARGUMENT("so many threads (all)"),
    {"", 0, NULL, "What is looked at (LIST: separated by commas):", 0},
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

struct request {
    struct yarn_view view;
    bool is_timeline, has_wakers;
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    if (id != TIMELINE && id != WAKERS)
        return yarn_view_take(&request->view, id, value, ret_right);
    request->is_timeline |= id == TIMELINE;
    request->has_wakers |= id == WAKERS;
    return 0;
}

static const struct yarn_command command = {
    .verb = "sched",
    .operands = "FILE…",
    .about = "Shows of each thread how long it ran, waited for a core and was blocked.",
    .arguments = arguments,
    .take = take,
};

static int print(const struct request *request, const struct yarn_sched_view *view)
{
    const struct yarn_out *out = &request->view.out;
    if (out->format == YARN_OUT_JSON)
        return yarn_sched_json(view, out);
    if (out->format == YARN_OUT_CSV)
        yarn_sched_csv(view, out);
    else if (request->has_wakers)
        return yarn_sched_wakers_text(view, out);
    else if (request->is_timeline)
        return yarn_sched_timeline_text(view, out);
    else
        yarn_sched_text(view, out);
    return 0;
}

static int show(struct request *request, const struct yarn_profile *profile,
                struct yarn_sched_log *sched, struct yarn_wakings *wakings)
{
    struct yarn_sched_view view = {.profile = profile,
                                   .sched = sched,
                                   .wakers = request->has_wakers ? &wakings->comms : NULL,
                                   .limit = yarn_view_limit(&request->view, 0)};
    int err = yarn_wakings_give(wakings, profile, sched);
    if (!err)
        err = yarn_sched_log_settle(sched);
    if (!err)
        err = yarn_sched_view_build(&view, &request->view.select.filter);
    int status = err ? -1 : yarn_out_open(&request->view.out, "sched");
    if (!err && status < 0)
        err = print(request, &view);
    if (status < 0)
        status = yarn_out_finish(&request->view.out, "sched", err);
    yarn_sched_view_fini(&view);
    return status;
}

int yarn_verb_sched(int argc, char **argv)
{
    struct request request = {.view = YARN_VIEW_EMPTY};
    struct yarn_sched_log sched = YARN_SCHED_LOG_EMPTY;
    struct yarn_wakings wakings = YARN_WAKINGS_EMPTY;
    struct yarn_command mine = command;
    int first;
    mine.self = &request;
    int status = yarn_command_parse(&mine, argc, argv, &first);
    if (status < 0) {
        struct yarn_profile profile;
        struct yarn_load_options options = {
            .sched = &sched,
            .wakings = &wakings,
            .has_no_threads = true,
            .has_no_stacks = !request.has_wakers,
            .frames = YARN_FRAMES_BY_FUNCTION,
        };
        status = yarn_select_load_view("sched", &request.view.select, 0, argv + first, &options,
                                       &profile);
        if (status < 0) {
            request.view.select.time = YARN_TIME_RANGE_ALL; /* not only samples lie in it */
            status = yarn_select_check("sched", &request.view.select,
                                       (const struct yarn_profile *const[]){&profile}, 1);
            if (status < 0)
                status = show(&request, &profile, &sched, &wakings);
            yarn_profile_fini(&profile);
        }
    }
    yarn_sched_log_fini(&sched);
    yarn_wakings_fini(&wakings);
    yarn_select_fini(&request.view.select);
    return status;
}
