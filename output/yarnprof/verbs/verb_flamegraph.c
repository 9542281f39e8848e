/* SPDX-License-Identifier: Apache-2.0 */

#include "output/export/page/page.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/stream/new_file.h"
#include "output/yarnprof/stream/status.h"
#include "output/yarnprof/verbs/verb.h"

enum { BEFORE = YARN_ARGUMENT_OWN, TITLE };

enum { STACK_BYTES = 88 }; /* with its node of the page */

static const struct yarn_argument arguments[] = {
    {"output", 'o', "FILE", "write there; - is standard output", YARN_ARGUMENT_OUTPUT},
    {"before", 0, "DUMP", "an earlier dump, or folder, to compare with: colours show the change",
     BEFORE},
    {"title", 0, "TEXT", "of the page (the command that was recorded)", TITLE},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Other options:", 0},
    {"help", 'h', NULL, "this text", YARN_ARGUMENT_HELP},
    {0},
};

/* One of the profiles that the page shows. */
struct side {
    struct yarn_profile profile;
    struct yarn_slices slices;
    bool is_loaded;
};

struct request {
    struct yarn_select select;
    const char *path;   /* NULL: standard output */
    const char *before; /* NULL: nothing to compare with */
    const char *title;
};

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case BEFORE:
        request->before = value;
        return 0;
    case TITLE:
        request->title = value;
        return 0;
    case YARN_ARGUMENT_OUTPUT:
        request->path = value;
        return 0;
    default:
        return yarn_select_take(&request->select, id, value, ret_right);
    }
}

static const struct yarn_command command = {
    .verb = "flamegraph",
    .operands = "FILE… -o PAGE.html",
    .about = "Writes one page that works offline: flame graph, timeline of threads, table of "
             "functions.",
    .arguments = arguments,
    .take = take,
};

static int fail(const struct request *request, int err)
{
    yarn_complain("flamegraph", "%s: %s", request->path ? request->path : "standard output",
                  yarn_new_file_why(err));
    return YARN_STATUS_FAILED;
}

/* An exit status, or -1 for success. */
static int load(const struct request *request, char *const *paths, struct side *side)
{
    struct yarn_load_options options = {
        .frames = YARN_FRAMES_BY_FUNCTION,
        .stack_bytes = STACK_BYTES,
        .reserved_a_byte = YARN_SLICES_A_BYTE,
        .take_sample = yarn_slices_take,
        .take_self = &side->slices,
    };
    yarn_slices_init(&side->slices, &request->select.filter);
    int status =
        yarn_select_load_view("flamegraph", &request->select, 0, paths, &options, &side->profile);
    side->is_loaded = status < 0;
    return status;
}

static void side_fini(struct side *side)
{
    yarn_slices_fini(&side->slices);
    if (side->is_loaded)
        yarn_profile_fini(&side->profile);
}

static int write_page(const struct request *request, struct side *before, struct side *after)
{
    struct yarn_new_file file;
    bool is_part = yarn_select_is_part(&request->select);
    struct yarn_page page = {
        .sides = {{request->before ? &before->profile : NULL, &before->slices, is_part},
                  {&after->profile, &after->slices, is_part}},
        .filter = &request->select.filter,
        .title = request->title,
    };
    int err = yarn_new_file_open(&file, request->path, YARN_NEW_FILE_BOUNDED);
    if (err)
        return fail(request, err);
    err = yarn_page_write(&page, file.file);
    if (!err)
        err = yarn_new_file_commit(&file);
    yarn_new_file_abandon(&file);
    return err ? fail(request, err) : YARN_STATUS_OK;
}

int yarn_verb_flamegraph(int argc, char **argv)
{
    struct request request = {.select = YARN_SELECT_EMPTY};
    struct yarn_command mine = command;
    struct side before = {0}, after = {0};
    int first;
    mine.self = &request;
    int status = yarn_command_parse(&mine, argc, argv, &first);
    if (status < 0 && yarn_new_file_is_terminal(request.path)) {
        yarn_complain("flamegraph", "a page is nothing for a terminal: name a file with -o");
        status = YARN_STATUS_USAGE;
    }
    if (status < 0)
        status = load(&request, argv + first, &after);
    if (status < 0 && request.before)
        status = load(&request, (char *const[]){(char *)request.before, NULL}, &before);
    if (status < 0)
        status =
            yarn_select_check("flamegraph", &request.select,
                              (const struct yarn_profile *const[]){&after.profile, &before.profile},
                              request.before ? 2 : 1);
    if (status < 0)
        status = write_page(&request, &before, &after);
    side_fini(&before);
    side_fini(&after);
    yarn_select_fini(&request.select);
    return status;
}
