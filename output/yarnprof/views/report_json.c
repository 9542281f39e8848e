/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/time/coverage.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/time/unsampled.h"
#include "output/text/json.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/report.h"

static const char *text_of(const struct yarn_profile_report *report, uint32_t text)
{
    return yarn_profile_text(report->profile, text);
}

static void put_events(const struct yarn_profile_report *report, struct yarn_json *json)
{
    const struct yarn_profile *profile = report->profile;
    yarn_json_begin_array(json, "events");
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        const struct yarn_profile_event *event = &profile->events[i];
        if (!event->was_opened || !yarn_filter_has_event(report->filter, profile, i))
            continue;
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "name", text_of(report, event->name));
        yarn_json_text(json, "unit", text_of(report, event->unit));
        yarn_json_u64(json, "total", event->total);
        yarn_json_u64(json, "samples", event->samples);
        if (event->flags & YARN_DUMP_EVENT_IS_OFF_CPU && !report->is_part) {
            yarn_json_u64(json, "looks", report->trust.looks);
            yarn_json_u64(json, "blocked_ns", report->trust.waited_ns);
        }
        uint64_t count;
        if (yarn_report_overshoots(report, i, &count))
            yarn_json_u64(json, "counted", count);
        double running = yarn_report_running_percent(report, i);
        if (running < YARN_REPORT_RUNNING_WHOLE)
            yarn_json_real(json, "percent_running", running);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

static void put_function(const struct yarn_profile_report *report, struct yarn_json *json,
                         uint32_t number)
{
    const struct yarn_profile *profile = report->profile;
    const struct yarn_profile_function *function = &profile->functions[number];
    yarn_json_text(json, "function", text_of(report, function->name));
    yarn_json_text(json, "module", text_of(report, profile->modules[function->module].base));
    yarn_json_text(json, "module_path", text_of(report, profile->modules[function->module].path));
    if (function->is_inlined)
        yarn_json_bool(json, "inlined", true);
}

static void put_line(const struct yarn_profile_report *report, struct yarn_json *json,
                     uint32_t number)
{
    const struct yarn_place *place = &report->profile->places.places[number];
    put_function(report, json, place->function);
    yarn_json_text_or_null(json, "file", place->line ? text_of(report, place->file) : NULL);
    yarn_json_u64_if(json, "line", place->line, place->line);
}

static void put_process(const struct yarn_profile_report *report, struct yarn_json *json,
                        uint32_t number)
{
    const struct yarn_profile_dump *dump = &report->profile->dumps[number];
    yarn_json_text(json, "process", text_of(report, dump->comm));
    yarn_json_u64(json, "pid", dump->process.pid);
}

/* What a row stands for; function and module are there for every key. */
/* The text is that of load_details.c: the address, and behind a blank its data source. */
static void put_address(const struct yarn_profile_report *report, struct yarn_json *json,
                        const struct yarn_row *row)
{
    char address[32];
    const char *text = text_of(report, row->key), *source = strchr(text, ' ');
    (void)snprintf(address, sizeof address, "%.*s", (int)strcspn(text, " "), text);
    yarn_json_text(json, "address", address);
    yarn_json_text_or_null(json, "data_src", source ? source + 1 : "");
    if (row->latency)
        yarn_json_real(json, "weight", (double)row->latency / (double)row->total_samples);
    else
        yarn_json_null(json, "weight");
}

static void put_key(const struct yarn_profile_report *report, struct yarn_json *json,
                    const struct yarn_row *row)
{
    const struct yarn_profile *profile = report->profile;
    if (report->rows.by == YARN_BY_FUNCTION) {
        put_function(report, json, row->key);
        return;
    }
    if (report->rows.by == YARN_BY_LINE) {
        put_line(report, json, row->key);
        return;
    }
    yarn_json_null(json, "function");
    if (report->rows.by == YARN_BY_MODULE) {
        yarn_json_text(json, "module", text_of(report, profile->modules[row->key].base));
        yarn_json_text(json, "module_path", text_of(report, profile->modules[row->key].path));
        return;
    }
    yarn_json_null(json, "module");
    if (report->rows.by == YARN_BY_THREAD) {
        const struct yarn_profile_thread *thread = &profile->threads[row->key];
        yarn_json_text(json, "thread", text_of(report, thread->comm));
        yarn_json_text(json, "comm", text_of(report, thread->comm));
        yarn_json_u64(json, "tid", thread->tid);
        put_process(report, json, thread->dump);
    } else if (report->rows.by == YARN_BY_PROCESS) {
        put_process(report, json, row->key);
    } else if (report->rows.by == YARN_BY_CPU) {
        yarn_json_u64(json, "cpu", row->key);
    } else if (report->rows.by == YARN_BY_ADDRESS) {
        put_address(report, json, row);
    } else if (report->rows.by == YARN_BY_FIELD) {
        yarn_json_text(json, "field", report->field);
        yarn_json_text(json, "value", text_of(report, row->key));
    }
}

static void put_sums(const struct yarn_profile_report *report, struct yarn_json *json,
                     uint64_t self, uint64_t total, uint32_t event)
{
    uint64_t whole = report->profile->events[event].total;
    yarn_json_u64(json, "self", self);
    yarn_json_u64(json, "total", total);
    yarn_json_real(json, "self_percent", yarn_percent(self, whole));
    yarn_json_real(json, "total_percent", yarn_percent(total, whole));
}

static void put_rows(const struct yarn_profile_report *report, struct yarn_json *json)
{
    const struct yarn_profile *profile = report->profile;
    size_t nr_shown = 0;
    yarn_json_begin_array(json, "rows");
    for (size_t i = 0; i < report->rows.count; i++) {
        const struct yarn_row *row = &report->rows.rows[i];
        nr_shown = i && row[-1].event == row->event ? nr_shown + 1 : 1;
        if (report->limit && nr_shown > report->limit)
            continue;
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "event", text_of(report, profile->events[row->event].name));
        put_key(report, json, row);
        put_sums(report, json, row->self, row->total, row->event);
        yarn_json_u64(json, "samples", row->samples);
        yarn_json_u64(json, "total_samples", row->total_samples);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

static void put_node(const struct yarn_profile_report *report, struct yarn_json *json,
                     uint32_t number)
{
    const struct yarn_tree_node *node = &report->tree.nodes[number];
    yarn_json_begin_object(json, NULL);
    yarn_json_u64(json, "id", number);
    yarn_json_u64_if(json, "parent", node->parent != YARN_DUMP_NONE, node->parent);
    yarn_json_u64(json, "depth", node->depth);
    yarn_json_text(json, "event", text_of(report, report->profile->events[node->event].name));
    if (node->function == YARN_DUMP_NONE) {
        yarn_json_null(json, "function");
        yarn_json_null(json, "module");
    } else {
        put_function(report, json, node->function);
    }
    put_sums(report, json, node->self, node->total, node->event);
    yarn_json_u64(json, "samples", node->samples);
    yarn_json_u64(json, "total_samples", node->total_samples);
    yarn_json_end_object(json);
}

/* A list and no nest: stacks are deeper than what readers of JSON take. */
static void put_tree(const struct yarn_profile_report *report, struct yarn_json *json)
{
    size_t nr_shown = 0;
    yarn_json_begin_array(json, report->view == YARN_REPORT_TREE ? "tree" : "callers");
    uint32_t node = report->tree.count ? 0 : YARN_DUMP_NONE;
    for (; node != YARN_DUMP_NONE; node = yarn_tree_next(&report->tree, node)) {
        if (report->limit && nr_shown++ >= report->limit)
            break;
        put_node(report, json, node);
    }
    yarn_json_end_array(json);
}

/* By process or thread, where the rows are. */
static int put_kernel(const struct yarn_profile_report *report, struct yarn_json *json)
{
    const struct yarn_profile *profile = report->profile;
    bool is_by_thread = report->rows.by == YARN_BY_THREAD;
    struct yarn_kernel_time *list;
    size_t count;
    if (!is_by_thread && report->rows.by != YARN_BY_PROCESS)
        return 0;
    int err = yarn_kernel_time_of(profile, is_by_thread, &list, &count);
    if (err)
        return err;
    yarn_json_begin_array(json, "kernel");
    for (size_t i = 0; i < count; i++) {
        const struct yarn_profile_thread *thread =
            list[i].thread == YARN_DUMP_NONE ? NULL : &profile->threads[list[i].thread];
        yarn_json_begin_object(json, NULL);
        put_process(report, json, list[i].dump);
        if (thread) {
            yarn_json_text(json, "thread", text_of(report, thread->comm));
            yarn_json_u64(json, "tid", thread->tid);
        }
        yarn_json_u64(json, "kernel_ns", list[i].ns);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    free(list);
    return 0;
}

/* Not where a part is looked at: the reasons are those of the whole. */
static void put_unsampled(const struct yarn_profile_report *report, struct yarn_json *json)
{
    struct yarn_unsampled parts = yarn_unsampled_of_all(report->profile);
    if (report->is_part)
        return;
    yarn_json_begin_object(json, "unsampled");
    for (size_t i = 0; i < YARN_UNSAMPLED_COUNT; i++)
        yarn_json_u64(json, yarn_unsampled_key((enum yarn_unsampled_reason)i), parts.ns[i]);
    yarn_json_end_object(json);
}

static int put_notes(const struct yarn_profile_report *report, struct yarn_json *json)
{
    struct yarn_coverage_sum coverage = yarn_coverage_sum_of_all(report->profile);
    yarn_json_begin_object(json, "notes");
    yarn_json_u64(json, "lost", report->trust.lost);
    yarn_json_u64(json, "unsampled_ns", report->trust.unsampled_ns);
    yarn_json_u64(json, "kernel_ns", report->trust.kernel_ns);
    put_unsampled(report, json);
    yarn_json_u64(json, "truncated", report->trust.stacks_truncated);
    yarn_json_u64(json, "no_unwind_info", report->trust.stacks_no_unwind_info);
    yarn_json_u64(json, "failed", report->trust.stacks_failed);
    yarn_json_u64(json, "stopped_ns", coverage.off_ns);
    yarn_json_u64(json, "stopped_cpu_ns", coverage.off_cpu_ns);
    yarn_json_bool(json, "clean_end", report->trust.clean_end);
    yarn_json_u64(json, "unwritten_ns", report->trust.unwritten_ns);
    int err = put_kernel(report, json);
    yarn_json_end_object(json);
    return err;
}

int yarn_report_json(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_json *json = yarn_json_new(out->file);
    if (!json)
        return -ENOMEM;
    yarn_json_begin_object(json, NULL);
    put_events(report, json);
    if (report->view == YARN_REPORT_BRANCHES)
        yarn_report_branches_json(report, json);
    else
        put_rows(report, json);
    if (report->view == YARN_REPORT_CALLS)
        yarn_report_calls_json(report, json);
    else if (report->view == YARN_REPORT_TREE || report->view == YARN_REPORT_CALLERS)
        put_tree(report, json);
    int err = put_notes(report, json);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return err;
}
