/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/new_file.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/merge_dumps.h"
#include "output/yarnprof/verbs/verb.h"

static const struct yarn_argument arguments[] = {
    {"output", 'o', "FILE", "write there; - is standard output", YARN_ARGUMENT_OUTPUT},
    {"help", 'h', NULL, "this text", YARN_ARGUMENT_HELP},
    {0},
};

struct request {
    const char *path; /* NULL: standard output */
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    (void)ret_right;
    if (id != YARN_ARGUMENT_OUTPUT)
        return -ENOENT;
    request->path = value;
    return 0;
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    struct yarn_sources sources = {0};
    if (yarn_new_file_is_terminal(request->path)) {
        yarn_complain("merge", "a dump is nothing for a terminal: name a file with -o");
        return YARN_STATUS_USAGE;
    }
    int status = yarn_select_sources("merge", operands, &sources);
    if (status < 0)
        status = yarn_merge_dumps("merge", &sources, request->path);
    yarn_sources_fini(&sources);
    return status;
}

const struct yarn_command yarn_verb_merge = {
    .verb = "merge",
    .operands = "FILE... -o DUMP",
    .about = "Makes one dump of many: every process with all that was recorded of it.",
    .arguments = arguments,
    .take = take,
    .request_bytes = sizeof(struct request),
    .run = run,
};
