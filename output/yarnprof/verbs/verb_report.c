/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/event/nearest.h"
#include "core/event/parse.h"
#include "core/event/trace_format.h"
#include "output/yarnprof/events/encode.h"
#include "output/yarnprof/io/status.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/verbs/metric_groups.h"
#include "output/yarnprof/verbs/verb.h"
#include "output/yarnprof/views/report.h"

enum {
    TREE = YARN_ARGUMENT_OWN,
    CALLERS,
    CALLS,
    METRICS,
    BY,
    SORT,
    PERCENT_LIMIT,
    ROWS_OF_TEXT = 40,
};

#define LEAST_PERCENT_OF_TREE 0.5
#define LEAST_PERCENT_OF_CALLERS 1.0

enum { ARENA_BYTES = 1 << 20 };

struct request {
    struct yarn_view view;
    struct yarn_profile_report report;
    enum yarn_by by;
    bool has_by, has_least, has_all_frames;
    const char *callers_of;          /* NULL: all */
    const char *group, *metric_path; /* of metrics; NULL */
    struct yarn_arena arena;         /* of the group's file */
    struct yarn_metric_file metrics;
};

static const struct yarn_argument arguments[] = {
    {"tree", 0, NULL, "top-down: what each function called", TREE},
    {"callers", 0, "[=FN]", "bottom-up: who called FN, or each function", CALLERS},
    {"calls", 0, NULL, "exact calls of probed functions beside their sampled time", CALLS},
    {"metrics", 0, "GROUP", "metrics of each function, of the weights of the group's events",
     METRICS},
    {"metric-path", 0, "DIR", "look there for groups, too, and first",
     YARN_ARGUMENT_INTO(struct request, metric_path)},
    {"by", 0, "KEY",
     "function, line, module, thread, process, program, command, host, rank, cpu, event, address, "
     "branch "
     "or a tracepoint's field",
     BY},
    {"sort", 0, "ORDER", "self or total", SORT},
    YARN_VIEW_LIMIT_ARGUMENT("at most N rows an event; 0 is all (text: 40)"),
    {"percent-limit", 0, "P", "of a tree, what has P percent or more (text: 0.5, callers 1)",
     PERCENT_LIMIT},
    {"all-frames", 0, NULL,
     "Python's interpreter between functions of Python, too, where these have names",
     YARN_ARGUMENT_INTO(struct request, has_all_frames)},
    {"side-by-side", 0, NULL, "all events in one table (text)",
     YARN_ARGUMENT_INTO(struct request, report.is_side_by_side)},
    YARN_SELECT_ARGUMENTS,
    {"", 0, NULL, "Output:", 0},
    YARN_OUT_FORMAT_ARGUMENT,
    YARN_OUT_ARGUMENTS,
    {0},
};

/* Of a field, as C has them. */
static bool is_name(const char *word)
{
    return word[0] && (word[0] < '0' || word[0] > '9') &&
           !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")];
}

/* Whether a tracepoint of the profile has it. */
static bool has_field(const struct yarn_profile *profile, const char *name)
{
    struct yarn_trace_field field;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        for (size_t e = 0; e < profile->dumps[i].nr_events; e++)
            if (yarn_trace_format_find(profile->dumps[i].events[e].record.format,
                                       yarn_span_of_text(name), &field))
                return true;
    return false;
}

static void report_field(const char *name)
{
    char bytes[128] = "";
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    struct yarn_nearest nearest = yarn_nearest_of(yarn_span_of_text(name));
    for (size_t by = 0; by < YARN_BY_COUNT; by++)
        if (yarn_by_key((enum yarn_by)by)->word)
            yarn_nearest_offer(&nearest, yarn_by_key((enum yarn_by)by)->word);
    yarn_nearest_ask(&nearest, &text);
    yarn_complain("report", "no tracepoint of these dumps has a field '%s'%s", name, bytes);
}

static bool has_function(const struct yarn_profile *profile, const char *wanted)
{
    uint8_t *called = yarn_functions_called(profile, wanted, NULL);
    bool has_one = !called || memchr(called, true, profile->nr_functions);
    free(called);
    return has_one;
}

/* What perf calls them. */
static const char *key_of(const char *typed)
{
    static const char *const words[][2] = {
        {"dso", "module"},   {"sym", "function"}, {"symbol", "function"},
        {"srcline", "line"}, {"pid", "process"},  {"tid", "thread"},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(words); i++)
        if (strcmp(words[i][0], typed) == 0)
            return words[i][1];
    return typed;
}

static int take_by(struct request *request, const char *value, const char **ret_right)
{
    *ret_right =
        "function, line, module, thread, process, program, command, host, rank, cpu, event, "
        "address, branch or a field's name";
    if (strcmp(value, "branch") == 0) {
        request->report.view = YARN_REPORT_BRANCHES;
        return 0;
    }
    request->has_by = yarn_by_parse(key_of(value), &request->by);
    if (request->has_by)
        return 0;
    if (!is_name(value))
        return -EINVAL;
    request->by = YARN_BY_FIELD;
    request->has_by = true;
    request->report.field = value;
    return 0;
}

static int take_sort(struct request *request, const char *value, const char **ret_right)
{
    *ret_right = "self or total (the rows are those of --by: function, module, thread and others)";
    request->report.is_by_total = strcmp(value, "total") == 0;
    return request->report.is_by_total || strcmp(value, "self") == 0 ? 0 : -EINVAL;
}

static int take_percent(struct request *request, const char *value, const char **ret_right)
{
    char *end;
    *ret_right = "a percentage from 0 to 100";
    double percent = strtod(value, &end);
    if (end == value || *end || !(percent >= 0 && percent <= 100))
        return -EINVAL;
    request->report.least_percent = percent;
    request->has_least = true;
    return 0;
}

static int take(void *self, int id, const char *value, const char **ret_right)
{
    struct request *request = self;
    switch (id) {
    case TREE:
        request->report.view = YARN_REPORT_TREE;
        return 0;
    case CALLERS:
        request->report.view = YARN_REPORT_CALLERS;
        request->callers_of = value;
        return 0;
    case METRICS:
        request->report.view = YARN_REPORT_METRICS;
        request->group = value;
        return 0;
    case CALLS:
        request->report.view = YARN_REPORT_CALLS;
        return 0;
    case BY:
        return take_by(request, value, ret_right);
    case SORT:
        return take_sort(request, value, ret_right);
    case PERCENT_LIMIT:
        return take_percent(request, value, ret_right);
    default:
        return yarn_view_take(&request->view, id, value, ret_right);
    }
}

static int build_callers(struct request *request)
{
    struct yarn_profile_report *report = &request->report;
    struct yarn_callers_options options = {.min_percent = report->least_percent};
    uint8_t *starts = NULL;
    if (request->callers_of) {
        starts = yarn_functions_called(report->profile, request->callers_of, NULL);
        if (!starts)
            return -ENOMEM;
        options.starts = starts;
    }
    int err = yarn_callers_build(report->choice, &options, &report->tree);
    free(starts);
    return err;
}

static int build(struct request *request)
{
    struct yarn_profile_report *report = &request->report;
    int err = yarn_rows_build(report->choice, request->by, &report->rows);
    if (err)
        return err;
    if (report->is_by_total)
        yarn_rows_sort_by_total(report->profile, &report->rows);
    else if (request->view.out.format == YARN_OUT_TEXT)
        yarn_rows_sort_by_self_and_total(report->profile, &report->rows);
    if (report->view == YARN_REPORT_TREE)
        return yarn_tree_build(report->choice, report->least_percent, &report->tree);
    if (report->view == YARN_REPORT_CALLS)
        return yarn_calls_build(report->choice, &report->calls);
    if (report->view == YARN_REPORT_BRANCHES)
        return yarn_branches_build(report->choice, &report->branches);
    return report->view == YARN_REPORT_CALLERS ? build_callers(request) : 0;
}

static int print(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    if (report->view == YARN_REPORT_METRICS)
        return yarn_report_metrics(report, out);
    if (out->format == YARN_OUT_JSON)
        return yarn_report_json(report, out);
    if (report->view == YARN_REPORT_CALLS)
        yarn_report_calls(report, out);
    else if (report->view == YARN_REPORT_BRANCHES)
        yarn_report_branches(report, out);
    else if (out->format == YARN_OUT_TEXT)
        return yarn_report_text(report, out);
    else if (report->view == YARN_REPORT_ROWS)
        yarn_report_rows(report, out);
    else
        yarn_report_nodes(report, out);
    return 0;
}

/* What a name of the group stands for, in the words of its file: "cycles" of
 * "{cycles,instructions}".
 */
static const char *event_of(struct request *request, const struct yarn_metric_list *wanted,
                            size_t name)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error;
    if (!yarn_event_list_parse_on(yarn_encode_machine(), wanted->text, strlen(wanted->text),
                                  &request->arena, &list, &error))
        for (size_t i = 0; i < list.count; i++)
            if (list.specs[i].item == name)
                return yarn_arena_text(&request->arena, list.specs[i].event,
                                       strlen(list.specs[i].event));
    return wanted->text; /* one that this machine does not know */
}

/* An exit status, or -1. */
static int load_metrics(struct request *request)
{
    static char path[YARN_METRIC_PATH_MAX];
    struct yarn_metric_file *file = &request->metrics;
    int status = yarn_metric_group_load("report", request->group, strlen(request->group),
                                        request->metric_path, &request->arena, file, path);
    for (size_t i = 0; status < 0 && i < file->nr_lists; i++) {
        for (size_t j = 0; j < file->lists[i].nr_names; j++) {
            const char *event = event_of(request, &file->lists[i], j);
            if (!event)
                return YARN_STATUS_FAILED;
            request->report.metric_events[file->lists[i].first_name + j] = event;
        }
    }
    request->report.metrics = file;
    return status;
}

static int show(void *self, struct yarn_profile *profile)
{
    struct request *request = self;
    struct yarn_profile_report *report = &request->report;
    bool is_text = request->view.out.format == YARN_OUT_TEXT;
    if (report->field && !has_field(profile, report->field)) {
        report_field(report->field);
        return YARN_STATUS_USAGE;
    }
    if (request->callers_of && !has_function(profile, request->callers_of)) {
        yarn_complain("report", "no sample has a function %s on its stack", request->callers_of);
        return YARN_STATUS_FAILED;
    }
    report->profile = profile;
    report->choice = &request->view.select.choices[0];
    report->is_part = yarn_select_is_part(&request->view.select);
    report->limit = yarn_view_limit(&request->view, report->view == YARN_REPORT_TREE ||
                                                            report->view == YARN_REPORT_CALLERS ||
                                                            report->view == YARN_REPORT_CALLS
                                                        ? 0
                                                        : ROWS_OF_TEXT);
    if (!request->has_least)
        report->least_percent = !is_text                              ? 0
                                : report->view == YARN_REPORT_CALLERS ? LEAST_PERCENT_OF_CALLERS
                                                                      : LEAST_PERCENT_OF_TREE;
    report->trust.clean_end = true;
    for (size_t i = 0; i < profile->nr_dumps; i++)
        yarn_trust_add(&report->trust, &profile->dumps[i].trust);

    int err = build(request);
    int status = err ? YARN_STATUS_FAILED : yarn_out_open(&request->view.out, "report");
    if (!err && status < 0)
        err = print(report, &request->view.out);
    yarn_rows_fini(&report->rows);
    yarn_tree_fini(&report->tree);
    yarn_calls_fini(&report->calls);
    yarn_branches_fini(&report->branches);
    return status < 0 || err ? yarn_out_finish(&request->view.out, "report", err) : status;
}

static bool has_depth(const struct request *request)
{
    return request->report.view == YARN_REPORT_TREE || request->report.view == YARN_REPORT_CALLERS;
}

static int load_and_show(struct request *request, char *const *paths)
{
    const struct yarn_filter *filter = &request->view.select.filter;
    const struct yarn_by_key *key = yarn_by_key(request->by);
    struct yarn_load_options options = {
        .by_cpu = request->by == YARN_BY_CPU,
        .by_address = request->by == YARN_BY_ADDRESS,
        .by_field = request->report.field,
        .frames = request->by == YARN_BY_LINE                    ? YARN_FRAMES_BY_LINE
                  : request->report.view == YARN_REPORT_BRANCHES ? YARN_FRAMES_BY_ADDRESS
                                                                 : YARN_FRAMES_BY_FUNCTION,
        .has_branches = request->report.view == YARN_REPORT_BRANCHES,
        .folds_glue = request->by == YARN_BY_FUNCTION && !request->has_all_frames,
        .has_no_threads = !key->needs_threads && !yarn_filter_is_by_thread(filter),
        .has_no_stacks = !key->is_of_frame && !yarn_filter_is_by_function(filter),
    };
    unsigned shown = 0;
    if (request->by == YARN_BY_LINE)
        shown = YARN_SELECT_LINES | YARN_SELECT_INLINES;
    else if (has_depth(request))
        shown = YARN_SELECT_INLINES;
    return yarn_select_show("report", &request->view.select, shown, paths, &options, show, request);
}

static int run(void *self, char **operands)
{
    struct request *request = self;
    if (request->report.view != YARN_REPORT_ROWS && request->has_by &&
        request->by != YARN_BY_FUNCTION) {
        yarn_complain("report", "--tree, --callers, --calls and --metrics are by function");
        return YARN_STATUS_USAGE;
    }
    yarn_arena_open(&request->arena, ARENA_BYTES);
    if (request->group && strcmp(request->group, "list") == 0)
        return yarn_metric_groups_list("report", request->metric_path);
    int status = request->group ? load_metrics(request) : -1;
    return status < 0 ? load_and_show(request, operands) : status;
}

static void fini(void *self)
{
    struct request *request = self;
    yarn_arena_close(&request->arena);
    yarn_select_fini(&request->view.select);
}

const struct yarn_command yarn_verb_report = {
    .verb = "report",
    .operands = "FILE...",
    .about = "Shows which functions (modules, threads and more) the samples fell into: in "
             "themselves and, "
             "in total,\nbelow them.",
    .arguments = arguments,
    .take = take,
    .initial = &(const struct request){.view = YARN_VIEW_EMPTY},
    .request_bytes = sizeof(struct request),
    .run = run,
    .fini = fini,
};
