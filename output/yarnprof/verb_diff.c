/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/base/text.h"
#include "output/analysis/clock.h"
#include "output/yarnprof/diff.h"
#include "output/yarnprof/select.h"
#include "output/yarnprof/status.h"
#include "output/yarnprof/verb.h"

enum { NORMALIZE = YARN_ARGUMENT_OWN, SORT, LIMIT, ROWS_OF_TEXT = 40 };

static const struct yarn_argument arguments[] = {
    {"normalize", 0, "HOW", "by samples (shares of them) or by time (spent a second)", NORMALIZE},
    {"sort", 0, "ORDER", "by the change of self or of total", SORT},
    {"limit", 0, "N", "at most N rows an event; 0 is all (text: 40)", LIMIT},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

struct request {
    struct yarn_out out;
    struct yarn_select select;
    struct yarn_diff_options options;
    size_t limit;
    bool has_limit;
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

static int take_limit(struct request *request, const char *value, const char **ret_right)
{
    uint64_t limit;
    *ret_right = "a number of rows";
    int err = yarn_parse_u64(value, strlen(value), &limit);
    if (err)
        return err;
    request->limit = (size_t)limit;
    request->has_limit = true;
    return 0;
}

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case NORMALIZE:
        return take_normalize(request, value, ret_right);
    case SORT:
        return take_sort(request, value, ret_right);
    case LIMIT:
        return take_limit(request, value, ret_right);
    default:
        break;
    }
    int err = yarn_select_take(&request->select, id, value, ret_right);
    return err == -ENOENT ? yarn_out_take(&request->out, id, value, ret_right) : err;
}

static const struct yarn_command command = {
    .verb = "diff",
    .operands = "BEFORE AFTER",
    .about = "Shows what changed by function, and which changes are no more than noise. Each of\n"
             "BEFORE and AFTER is a dump or a folder of dumps.",
    .arguments = arguments,
    .take = take,
};

/* A moment of the range, after the start. */
static double moment(const struct yarn_profile *profile, uint64_t at_ns, bool is_absolute,
                     double whole)
{
    double seconds = (double)at_ns / 1e9;
    if (at_ns == UINT64_MAX)
        return whole;
    if (is_absolute) {
        int64_t offset_ns =
            profile->nr_dumps ? yarn_clock_offset_ns(&profile->dumps[0].process) : 0;
        seconds -= ((double)profile->start_ns + (double)offset_ns) / 1e9;
    }
    return seconds < 0 ? 0 : seconds > whole ? whole : seconds;
}

/* How much time of the recording is looked at. */
static double seconds_of(const struct yarn_profile *profile, const struct yarn_time_range *range)
{
    double whole = profile->end_ns > profile->start_ns
                       ? (double)(profile->end_ns - profile->start_ns) / 1e9
                       : 0;
    double from = moment(profile, range->from_ns, range->from_is_absolute, whole);
    double to = moment(profile, range->to_ns, range->to_is_absolute, whole);
    return to > from ? to - from : 0;
}

static int print(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    switch (out->format) {
    case YARN_OUT_JSON:
        return yarn_diff_json(view, out);
    case YARN_OUT_CSV:
        yarn_diff_csv(view, out);
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
        .limit = request->limit,
    };
    if (!request->has_limit && request->out.format == YARN_OUT_TEXT)
        view.limit = ROWS_OF_TEXT;
    request->options.filter = &request->select.filter;
    for (size_t side = 0; side < 2; side++)
        request->options.seconds[side] = seconds_of(profiles[side], &request->select.time);
    int err = yarn_diff_build(profiles, &request->options, &diff);
    int status = err ? YARN_STATUS_FAILED : yarn_out_open(&request->out, "diff");
    if (!err && status < 0)
        err = print(&view, &request->out);
    yarn_diff_fini(&diff);
    return status < 0 || err ? yarn_out_finish(&request->out, "diff", err) : status;
}

static int load(const struct request *request, const char *path, struct yarn_profile *ret_profile)
{
    struct yarn_load_options options = {
        .has_no_threads = yarn_select_has_all_threads(&request->select),
    };
    return yarn_select_load_view("diff", &request->select, 0, (char *const[]){(char *)path, NULL},
                                 &options, ret_profile);
}

static int load_and_show(struct request *request, char *const *paths)
{
    struct yarn_profile before, after;
    int status = load(request, paths[0], &before);
    if (status >= 0)
        return status;
    status = load(request, paths[1], &after);
    if (status < 0) {
        status = show(request, paths, (const struct yarn_profile *const[]){&before, &after});
        yarn_profile_fini(&after);
    }
    yarn_profile_fini(&before);
    return status;
}

int yarn_verb_diff(int argc, char **argv)
{
    struct request request = {.select = YARN_SELECT_EMPTY};
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
    yarn_select_fini(&request.select);
    return status;
}
