/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <unistd.h>

#include "core/base/text.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/annotate.h"
#include "output/yarnprof/views/report.h"

enum {
    CONTEXT = YARN_ARGUMENT_OWN,
    HOTTEST_OF_TEXT = 30,
    CONTEXT_OF_TEXT = 3,
};

struct request {
    struct yarn_view view;
    struct yarn_annotate annotate;
    const char *wanted;
    bool has_context;
    bool is_inlined; /* a function that was inlined is meant */
};

static const struct yarn_argument arguments[] = {
    YARN_VIEW_LIMIT_ARGUMENT("the N hottest lines and instructions; 0 is all (text: 30)"),
    {"context", 0, "N", "as many lines and instructions around each (text: 3)", CONTEXT},
    {"source-root", 0, "FOLDER", "where the source is, if not where it was built",
     YARN_ARGUMENT_INTO(struct request, annotate.source_root)},
    {"objdump", 0, "COMMAND", "the disassembler; by default objdump",
     YARN_ARGUMENT_INTO(struct request, annotate.objdump)},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_NO_CSV_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
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
    default:
        break;
    }
    int err = yarn_select_take(&request->view.select, id, value, ret_right);
    if (err == -ENOENT && id != YARN_ARGUMENT_LIMIT)
        return yarn_out_take_no_csv(&request->view.out, id, value, ret_right);
    return err == -ENOENT ? yarn_view_take(&request->view, id, value, ret_right) : err;
}

/* Keeps the rows of functions that are meant, once more without those of inlined functions (or
 * with nothing but them) where that leaves any. */
static int keep_called(const struct request *request, const struct yarn_profile *profile,
                       struct yarn_rows *rows)
{
    size_t nr_called = 0, nr_kind = 0;
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
        nr_kind += profile->functions[rows->rows[i].key].is_inlined == request->is_inlined;
    if (!nr_kind)
        return 0;
    rows->count = 0;
    for (size_t i = 0; i < nr_called; i++) {
        if (profile->functions[rows->rows[i].key].is_inlined == request->is_inlined)
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
    annotate->limit = yarn_view_limit(&request->view, HOTTEST_OF_TEXT);
    if (!request->has_context)
        annotate->context = CONTEXT_OF_TEXT;
    int err = yarn_annotate_init(annotate, choice_of(request), function);
    if (err)
        return err;
    return yarn_annotate_print(annotate, &request->view.out);
}

static int show(void *self, struct yarn_profile *profile)
{
    struct request *request = self;
    struct yarn_rows rows = {0};
    int err = yarn_rows_build(choice_of(request), YARN_BY_FUNCTION, &rows);
    if (!err)
        err = keep_called(request, profile, &rows);
    size_t count = 0;
    if (!err)
        err = count_functions(profile, &rows, &count);
    int status = YARN_STATUS_FAILED;
    if (!err && !count)
        yarn_complain(
            "annotate", "no sample that is looked at has %s on its stack%s", request->wanted,
            access(request->wanted, R_OK) ? "" : "; the function is named before the files");
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

static int run(void *self, char **operands)
{
    struct request *request = self;
    struct yarn_load_options options = {0};
    if (!operands[0]) {
        yarn_complain(
            "annotate",
            "no function is named: yarnprof annotate FUNCTION FILE; see yarnprof annotate --help");
        return YARN_STATUS_USAGE;
    }
    request->wanted = operands[0];
    request->is_inlined = request->view.select.inlines == YARN_INLINES_ON;
    /* Lines and inlined functions are always needed; the option chooses the function. */
    request->view.select.inlines = YARN_INLINES_ON;
    return yarn_select_show("annotate", &request->view.select,
                            YARN_SELECT_LINES | YARN_SELECT_INLINES, operands + 1, &options, show,
                            request);
}

static void fini(void *self)
{
    yarn_select_fini(&((struct request *)self)->view.select);
}

const struct yarn_command yarn_verb_annotate = {
    .verb = "annotate",
    .operands = "FUNCTION FILE...",
    .about =
        "Shows which source lines and which instructions of a function the samples fell into.\n"
        "FUNCTION is a name, with or without parameters, or an extended regular expression;\n"
        "where several functions match, they are listed.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.view = YARN_VIEW_EMPTY},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
