/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/info.h"

static const struct yarn_argument arguments[] = {
    {"format", 0, "FORMAT", "text or json", YARN_ARGUMENT_FORMAT},
    YARN_OUT_ARGUMENTS,
    {0},
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct yarn_out *out = self;
    int err = yarn_out_take(out, id, value, ret_right);
    if (id == YARN_ARGUMENT_FORMAT)
        *ret_right = "text or json";
    return !err && out->format == YARN_OUT_CSV ? -EINVAL : err;
}

static const struct yarn_command command = {
    .verb = "info",
    .operands = "FILE...",
    .about = "Shows of each dump what was recorded, with which events, and how far to trust it.",
    .arguments = arguments,
    .take = take,
};

static int show(const struct yarn_profile *profile, struct yarn_out *out)
{
    int status = yarn_out_open(out, "info");
    if (status >= 0)
        return status;
    if (out->format == YARN_OUT_JSON)
        yarn_info_json(profile, out);
    else
        yarn_info_text(profile, out);
    return yarn_out_finish(out, "info", 0);
}

int yarn_verb_info(int argc, char **argv)
{
    struct yarn_out out = {0};
    struct yarn_command mine = command;
    int first;
    mine.self = &out;
    int status = yarn_command_parse(&mine, argc, argv, &first);
    if (status >= 0)
        return status;
    struct yarn_profile profile;
    struct yarn_load_options options = {
        .time = YARN_TIME_RANGE_ALL,
        .has_no_threads = true,
        .has_no_stacks = true,
        .frames = YARN_FRAMES_BY_FUNCTION,
    };
    status = yarn_select_load("info", argv + first, &options, &profile);
    if (status >= 0)
        return status;
    yarn_select_report_damage("info", &profile);
    status = show(&profile, &out);
    yarn_profile_fini(&profile);
    return status;
}
