/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/value/clock.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/view.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/diff.h"

enum { NORMALIZE = YARN_ARGUMENT_OWN, SORT, ROWS_OF_TEXT = 40 };

static const struct yarn_argument arguments[] = {
    {"normalize", 0, "HOW", "by samples (shares of them) or by time (spent a second)", NORMALIZE},
    {"sort", 0, "ORDER", "by the change of self or of total", SORT},
    YARN_VIEW_LIMIT_ARGUMENT("at most N rows an event; 0 is all (text: 40)"),
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

struct request {
    struct yarn_view view;
    struct yarn_diff_options options;
};

static int take_normalize(struct request *request, const char *value, const char **ret_right)
{
    *ret_right = "samples or time";
    bool is_time = strcmp(value, "time") == 0;
    request->options.scale = is_time ? YARN_DIFF_SECONDS : YARN_DIFF_SHARES;
    return is_time || strcmp(value, "samples") == 0 ? 0 : -EINVAL;
}

static int take_sort(struct request *request, const char *value, const char **ret_right)
{
    *ret_right = "self or total";
    bool is_total = strcmp(value, "total") == 0;
    request->options.part = is_total ? YARN_DIFF_TOTAL : YARN_DIFF_SELF;
    return is_total || strcmp(value, "self") == 0 ? 0 : -EINVAL;
}

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case NORMALIZE:
        return take_normalize(request, value, ret_right);
    case SORT:
        return take_sort(request, value, ret_right);
    default:
        return yarn_view_take(&request->view, id, value, ret_right);
    }
}

static const struct yarn_command command = {
    .verb = "diff",
    .operands = "BEFORE AFTER",
    .about = "Shows what changed by function, and which changes are no more than noise. Each of\n"
             "BEFORE and AFTER is a dump or a folder of dumps.",
    .arguments = arguments,
    .take = take,
};

/* Which time of the recording is looked at. */
static void take_time(struct request *request, const struct yarn_profile *profile, size_t side)
{
    int64_t offset_ns = profile->nr_dumps ? yarn_clock_offset_ns(&profile->dumps[0].process) : 0;
    uint64_t end_ns = yarn_u64_max(profile->end_ns, profile->start_ns), from_ns, to_ns;
    yarn_time_range_on_clock(&request->view.select.time, profile->start_ns, offset_ns, &from_ns,
                             &to_ns);
    from_ns = yarn_u64_min(yarn_u64_max(from_ns, profile->start_ns), end_ns);
    request->options.from_ns[side] = from_ns;
    request->options.to_ns[side] = yarn_u64_max(yarn_u64_min(to_ns, end_ns), from_ns);
}

static int print(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    switch (out->format) {
    case YARN_OUT_JSON:
        return yarn_diff_json(view, out);
    case YARN_OUT_CSV:
        yarn_diff_rows(view, out, NULL);
        return 0;
    default:
        yarn_diff_text(view, out);
        return 0;
    }
}

static int show(struct request *request, char *const *paths,
                const struct yarn_profile *const profiles[2])
{
    struct yarn_diff diff = {0};
    struct yarn_diff_view view = {
        .diff = &diff,
        .options = &request->options,
        .paths = {paths[0], paths[1]},
        .limit = yarn_view_limit(&request->view, ROWS_OF_TEXT),
    };
    request->options.is_part = yarn_select_is_part(&request->view.select);
    for (size_t side = 0; side < 2; side++)
        take_time(request, profiles[side], side);
    int err = yarn_diff_build(request->view.select.choices, &request->options, &diff);
    int status = err ? YARN_STATUS_FAILED : yarn_out_open(&request->view.out, "diff");
    if (!err && status < 0)
        err = print(&view, &request->view.out);
    yarn_diff_fini(&diff);
    return status < 0 || err ? yarn_out_finish(&request->view.out, "diff", err) : status;
}

static int load(const struct request *request, const char *path, struct yarn_profile *ret_profile)
{
    struct yarn_load_options options = {
        .frames = YARN_FRAMES_BY_FUNCTION,
    };
    return yarn_select_load_view("diff", &request->view.select, 0,
                                 (char *const[]){(char *)path, NULL}, &options, ret_profile);
}

static int load_and_show(struct request *request, char *const *paths)
{
    struct yarn_profile before, after;
    int status = load(request, paths[0], &before);
    if (status >= 0)
        return status;
    status = load(request, paths[1], &after);
    if (status < 0) {
        const struct yarn_profile *const sides[] = {&before, &after};
        status = yarn_select_choose("diff", &request->view.select, sides, YARN_COUNT_OF(sides));
        if (status < 0)
            status = show(request, paths, sides);
        yarn_profile_fini(&after);
    }
    yarn_profile_fini(&before);
    return status;
}

int yarn_verb_diff(int argc, char **argv)
{
    struct request request = {.view = YARN_VIEW_EMPTY};
    struct yarn_command mine = command;
    int first;
    mine.self = &request;
    int status = yarn_command_parse(&mine, argc, argv, &first);
    if (status < 0 && argc - first != 2) {
        yarn_complain("diff", "takes two operands, BEFORE and AFTER; see yarnprof diff --help");
        status = YARN_STATUS_USAGE;
    }
    if (status < 0)
        status = load_and_show(&request, argv + first);
    yarn_select_fini(&request.view.select);
    return status;
}
