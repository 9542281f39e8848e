/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/base/text.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/annotate.h"
#include "output/yarnprof/views/report.h"

enum {
    CONTEXT = YARN_ARGUMENT_OWN,
    SOURCE_ROOT,
    OBJDUMP,
    HOTTEST_OF_TEXT = 30,
    CONTEXT_OF_TEXT = 3,
};

static const struct yarn_argument arguments[] = {
    YARN_VIEW_LIMIT_ARGUMENT("the N hottest lines and instructions; 0 is all (text: 30)"),
    {"context", 0, "N", "as many lines and instructions around each (text: 3)", CONTEXT},
    {"source-root", 0, "FOLDER", "where the source is, if not where it was built", SOURCE_ROOT},
    {"objdump", 0, "COMMAND", "the disassembler; by default objdump", OBJDUMP},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    {"format", 0, "FORMAT", "text or json", YARN_ARGUMENT_FORMAT},
    YARN_OUT_ARGUMENTS,
    {0},
};

struct request {
    struct yarn_view view;
    struct yarn_annotate annotate;
    const char *wanted;
    bool has_context;
};

static int take_context(struct request *request, const char *value, const char **ret_right)
{
    uint64_t number;
    *ret_right = "a number";
    int err = yarn_parse_u64(value, strlen(value), &number);
    if (err || number > UINT32_MAX)
        return -EINVAL;
    request->annotate.context = (size_t)number;
    request->has_context = true;
    return 0;
}

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case CONTEXT:
        return take_context(request, value, ret_right);
    case SOURCE_ROOT:
        request->annotate.source_root = value;
        return 0;
    case OBJDUMP:
        request->annotate.objdump = value;
        return 0;
    default:
        break;
    }
    int err = yarn_view_take(&request->view, id, value, ret_right);
    if (err || request->view.out.format != YARN_OUT_CSV)
        return err;
    *ret_right = "text or json";
    return -EINVAL;
}

static const struct yarn_command command = {
    .verb = "annotate",
    .operands = "FUNCTION FILE...",
    .about =
        "Shows which source lines and which instructions of a function the samples fell into.\n"
        "FUNCTION is a name, with or without parameters, or an extended regular expression;\n"
        "where several functions match, they are listed.",
    .arguments = arguments,
    .take = take,
};

/* Keeps the rows of functions that are meant, once more without those of inlined functions (or
 * with nothing but them) where that leaves any. */
static int keep_called(const struct request *request, const struct yarn_profile *profile,
                       struct yarn_rows *rows)
{
    size_t nr_called = 0, nr_kind = 0;
    bool is_inlined = request->view.select.inlines == YARN_INLINES_ON;
    uint8_t *called = yarn_functions_called(profile, request->wanted, NULL);
    if (!called)
        return -ENOMEM;
    for (size_t i = 0; i < rows->count; i++) {
        if (called[rows->rows[i].key])
            rows->rows[nr_called++] = rows->rows[i];
    }
    free(called);
    rows->count = nr_called;
    for (size_t i = 0; i < nr_called; i++)
        nr_kind += profile->functions[rows->rows[i].key].is_inlined == is_inlined;
    if (!nr_kind)
        return 0;
    rows->count = 0;
    for (size_t i = 0; i < nr_called; i++) {
        if (profile->functions[rows->rows[i].key].is_inlined == is_inlined)
            rows->rows[rows->count++] = rows->rows[i];
    }
    return 0;
}

/* One may have rows of several events. */
static int count_functions(const struct yarn_profile *profile, const struct yarn_rows *rows,
                           size_t *ret_count)
{
    uint8_t *seen = calloc(profile->nr_functions + 1, 1);
    size_t count = 0;
    if (!seen)
        return -ENOMEM;
    for (size_t i = 0; i < rows->count; i++) {
        count += !seen[rows->rows[i].key];
        seen[rows->rows[i].key] = 1;
    }
    free(seen);
    *ret_count = count;
    return 0;
}

static const struct yarn_choice *choice_of(const struct request *request)
{
    return &request->view.select.choices[0];
}

/* As without inlined functions: what was put into a function is its own. */
static int widen_selfs(const struct request *request, const struct yarn_profile *profile,
                       struct yarn_rows *rows)
{
    struct yarn_group *selfs = NULL;
    int err = 0;
    for (size_t i = 0; !err && i < rows->count; i++) {
        struct yarn_row *row = &rows->rows[i];
        if (!i || row[-1].event != row->event) {
            free(selfs);
            selfs = NULL;
            err = yarn_annotation_selfs(choice_of(request), row->event, &selfs);
        }
        if (err)
            break;
        row->self = selfs[row->key].self;
        row->samples = selfs[row->key].samples;
    }
    free(selfs);
    if (!err)
        yarn_rows_sort_by_self_and_total(profile, rows);
    return err;
}

static int print_matches(struct request *request, const struct yarn_profile *profile,
                         struct yarn_rows *rows)
{
    int err = widen_selfs(request, profile, rows);
    if (err)
        return err;
    struct yarn_profile_report report = {
        .profile = profile,
        .choice = choice_of(request),
        .rows = *rows,
        .limit = yarn_view_limit(&request->view, 0),
        .is_part = true,
    };
    report.trust.clean_end = true;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        yarn_trust_add(&report.trust, &profile->dumps[i].trust);
    if (request->view.out.format == YARN_OUT_JSON)
        return yarn_report_json(&report, &request->view.out);
    return yarn_report_text(&report, &request->view.out);
}

static int print_function(struct request *request, uint32_t function)
{
    struct yarn_annotate *annotate = &request->annotate;
    bool is_text = request->view.out.format == YARN_OUT_TEXT;
    annotate->limit = yarn_view_limit(&request->view, HOTTEST_OF_TEXT);
    if (!request->has_context)
        annotate->context = CONTEXT_OF_TEXT;
    int err = yarn_annotate_init(annotate, choice_of(request), function);
    if (err)
        return err;
    return is_text ? yarn_annotate_text(annotate, &request->view.out)
                   : yarn_annotate_json(annotate, &request->view.out);
}

static int show(struct request *request, const struct yarn_profile *profile)
{
    struct yarn_rows rows = {0};
    int err = yarn_rows_build(choice_of(request), YARN_BY_FUNCTION, &rows);
    if (!err)
        err = keep_called(request, profile, &rows);
    size_t count = 0;
    if (!err)
        err = count_functions(profile, &rows, &count);
    int status = YARN_STATUS_FAILED;
    if (!err && !count)
        yarn_complain("annotate", "no sample that is looked at has %s on its stack",
                      request->wanted);
    if (!err && count)
        status = yarn_out_open(&request->view.out, "annotate");
    if (status < 0) {
        if (count > 1)
            yarn_complain(
                "annotate",
                "%s is %zu functions; name one of them, --module distinguishes equal names",
                request->wanted, count);
        err = count > 1 ? print_matches(request, profile, &rows)
                        : print_function(request, rows.rows[0].key);
    }
    if (status < 0 || err)
        status = yarn_out_finish(&request->view.out, "annotate", err);
    yarn_rows_fini(&rows);
    yarn_annotate_fini(&request->annotate);
    return status;
}

/* Lines and inlined functions are always needed; the option chooses the function. */
static int load(const struct request *request, char *const *paths, struct yarn_profile *ret_profile)
{
    struct yarn_load_options options = {0};
    struct yarn_select select = request->view.select;
    select.inlines = YARN_INLINES_ON;
    return yarn_select_load_view("annotate", &select, YARN_SELECT_LINES | YARN_SELECT_INLINES,
                                 paths, &options, ret_profile);
}

int yarn_verb_annotate(int argc, char **argv)
{
    struct request request = {.view = YARN_VIEW_EMPTY};
    struct yarn_command mine = command;
    struct yarn_profile profile;
    int first;
    mine.self = &request;
    int status = yarn_command_parse(&mine, argc, argv, &first);
    if (status < 0 && !argv[first]) {
        yarn_complain(
            "annotate",
            "no function is named: yarnprof annotate FUNCTION FILE; see yarnprof annotate --help");
        status = YARN_STATUS_USAGE;
    }
    if (status < 0) {
        request.wanted = argv[first];
        status = load(&request, argv + first + 1, &profile);
        if (status < 0) {
            status = yarn_select_choose("annotate", &request.view.select,
                                        (const struct yarn_profile *const[]){&profile}, 1);
            if (status < 0)
                status = show(&request, &profile);
            yarn_profile_fini(&profile);
        }
    }
    yarn_select_fini(&request.view.select);
    return status;
}
