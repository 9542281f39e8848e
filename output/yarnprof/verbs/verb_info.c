/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/info.h"

static const struct yarn_argument arguments[] = {
    YARN_OUT_NO_CSV_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

static int run(void *self, char **operands)
{
    struct yarn_out *out = self;
    struct yarn_profile profile;
    struct yarn_load_options options = YARN_LOAD_SHORT;
    int status = yarn_select_load("info", operands, &options, &profile);
    if (status >= 0)
        return status;
    yarn_select_report_damage("info", &profile);
    status = yarn_out_open(out, "info");
    if (status < 0) {
        yarn_info_print(&profile, out);
        status = yarn_out_finish(out, "info", 0);
    }
    yarn_profile_fini(&profile);
    return status;
}

const struct yarn_command yarn_verb_info = {
    .verb = "info",
    .operands = "FILE...",
    .about = "Shows of each dump what was recorded, with which events, and how far to trust it.",
    .arguments = arguments,
    .take = yarn_out_take_no_csv,
    .request_bytes = sizeof(struct yarn_out),
    .run = run,
};
