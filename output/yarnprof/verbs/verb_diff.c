/* SPDX-License-Identifier: Apache-2.0 */
#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#include "output/analysis/value/clock.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/diff.h"

enum { NORMALIZE = YARN_ARGUMENT_OWN, SORT, FAIL_ON, ROWS_OF_TEXT = 40 };

struct request {
    struct yarn_view view;
    struct yarn_diff_options options;
    struct yarn_diff_limit growth;
    bool is_all;
};

static const struct yarn_argument arguments[] = {
    {"normalize", 0, "HOW",
     "run, share, time or mark: what was spent in a run, second or mark, or its share of the "
     "samples (run)",
     NORMALIZE},
    {"fail-on", 0, "PERCENT[:REGEX]",
     "status 3 where the total, or a function of that name, grew by more, beyond noise", FAIL_ON},
    {"all", 0, NULL, "rows without a change beyond noise, too (text)",
     YARN_ARGUMENT_INTO(struct request, is_all)},
    {"sort", 0, "ORDER", "self or total: by whose change (self)", SORT},
    YARN_VIEW_LIMIT_ARGUMENT("at most N rows an event; 0 is all (text: 40)"),
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

static int take_normalize(struct request *request, const char *value, const char **ret_right)
{
    static const struct {
        const char *word;
        enum yarn_diff_scale scale;
    } words[] = {
        {"run", YARN_DIFF_RUNS},     {"share", YARN_DIFF_SHARES}, {"samples", YARN_DIFF_SHARES},
        {"time", YARN_DIFF_SECONDS}, {"mark", YARN_DIFF_MARKS},
    };
    *ret_right = "run, share, time or mark";
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++) {
        if (strcmp(value, words[i].word) == 0) {
            request->options.scale = words[i].scale;
            return 0;
        }
    }
    return -EINVAL;
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
    case FAIL_ON:
        *ret_right = "PERCENT, or PERCENT:REGEX of functions";
        return yarn_diff_limit_parse(&request->growth, value);
    default:
        return yarn_view_take(&request->view, id, value, ret_right);
    }
}

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

static bool has_marks(const struct yarn_diff *diff, char *const *paths)
{
    for (size_t side = 0; side < 2; side++) {
        if (diff->bases[side].sums[YARN_DIFF_MARKS] > 0)
            continue;
        yarn_complain("diff", "%s: there is no mark in it (yarnprof ctl SOCKET mark TEXT)",
                      paths[side]);
        return false;
    }
    return true;
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
        .has_noise = request->is_all || request->view.out.format != YARN_OUT_TEXT,
        .growth = &request->growth,
    };
    request->options.is_part = yarn_select_is_part(&request->view.select);
    for (size_t side = 0; side < 2; side++)
        take_time(request, profiles[side], side);
    int err = yarn_diff_build(request->view.select.choices, &request->options, &diff);
    if (!err && request->options.scale == YARN_DIFF_MARKS && !has_marks(&diff, paths)) {
        yarn_diff_fini(&diff);
        return YARN_STATUS_FAILED;
    }
    int status = err ? YARN_STATUS_FAILED : yarn_out_open(&request->view.out, "diff");
    if (!err && request->growth.text)
        view.verdict = yarn_diff_judge(&diff, &request->options, &request->growth);
    if (!err && status < 0)
        yarn_diff_print(&view, &request->view.out);
    if (status < 0 || err)
        status = yarn_out_finish(&request->view.out, "diff", err);
    if (!err && request->growth.text && request->view.out.format == YARN_OUT_CSV)
        yarn_diff_verdict_print(&diff, &request->options, &request->growth, &view.verdict, stderr);
    yarn_diff_fini(&diff);
    if (status == 0 && request->growth.text && !view.verdict.nr_judged)
        return YARN_STATUS_FAILED;
    return status == 0 && view.verdict.is_exceeded ? YARN_STATUS_UNMET : status;
}

/* A name that there is, or a pattern of several. */
static int load(const struct request *request, char *path, struct yarn_profile *ret_profile)
{
    struct yarn_load_options options = {.frames = YARN_FRAMES_BY_FUNCTION};
    char *one[] = {path, NULL};
    glob_t found = {.gl_pathv = NULL};
    bool is_pattern = access(path, F_OK) != 0 && glob(path, 0, NULL, &found) == 0;
    int status = yarn_select_load_view("diff", &request->view.select, 0,
                                       is_pattern ? found.gl_pathv : one, &options, ret_profile);
    globfree(&found);
    return status;
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

static int run(void *self, char **operands)
{
    if (operands[0] && operands[1] && !operands[2])
        return load_and_show(self, operands);
    yarn_complain("diff", "takes two operands, BEFORE and AFTER; see yarnprof diff --help");
    return YARN_STATUS_USAGE;
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_diff_limit_fini(&request->growth);
    yarn_select_fini(&request->view.select);
}

const struct yarn_command yarn_verb_diff = {
    .verb = "diff",
    .operands = "BEFORE AFTER",
    .about =
        "Shows what changed in all and by function, and which changes are no more than noise.\n"
        "Each of BEFORE and AFTER is a dump, a folder of dumps, or a pattern of them.",
    .arguments = arguments,
    .take = take,
    .initial =
        &(const struct request){.view = YARN_VIEW_EMPTY, .options = {.scale = YARN_DIFF_RUNS}},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
