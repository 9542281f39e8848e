/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "core/event/status.h"
#include "output/analysis/profile/event_status.h"
#include "output/analysis/time/completeness.h"
#include "output/analysis/time/coverage.h"
#include "output/analysis/time/kernel_time.h"
#include "output/analysis/time/unsampled.h"
#include "output/text/json.h"
#include "output/yarnprof/io/numbers.h"
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
        if (!event->was_opened || !report->choice->events[i])
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
        double running = yarn_profile_running_percent(report->profile, i);
        if (running < YARN_EVENT_RUNNING_WHOLE)
            yarn_json_real(json, "percent_running", running);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

/* Of each event that was asked for, also where there is nothing of it. */
static void put_statuses(const struct yarn_profile_report *report, struct yarn_json *json)
{
    yarn_json_begin_array(json, "statuses");
    for (uint32_t i = 0; i < report->profile->nr_events; i++) {
        char bytes[128];
        struct yarn_text words = yarn_text_of(bytes, sizeof bytes);
        struct yarn_profile_status status = yarn_profile_event_status(report->profile, i);
        if (!yarn_profile_event_was_asked(report->profile, i) || !report->choice->events[i])
            continue;
        yarn_event_status_describe(status.bits, &words);
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "event", text_of(report, report->profile->events[i].name));
        yarn_json_text(json, "asked", status.asked);
        yarn_json_text(json, "status", bytes);
        yarn_json_text(json, "reason", status.reason);
        yarn_json_u64(json, "processes", status.nr_dumps);
        yarn_json_u64(json, "processes_with_status", status.nr_of_them);
        yarn_json_u64(json, "children", status.nr_children);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

void yarn_report_put_completeness(const struct yarn_profile *profile, struct yarn_json *json)
{
    struct yarn_completeness completeness = yarn_completeness_of(profile);
    yarn_json_begin_array(json, "completeness");
    for (size_t i = 0; i < completeness.count; i++) {
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "key", completeness.rows[i].key);
        yarn_json_text(json, "what", completeness.rows[i].what);
        yarn_json_u64(json, "count", completeness.rows[i].count);
        if (completeness.rows[i].percent >= 0)
            yarn_json_real(json, "percent", completeness.rows[i].percent);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}

static void put_process(const struct yarn_profile_report *report, struct yarn_json *json,
                        uint32_t number)
{
    const struct yarn_profile_dump *dump = &report->profile->dumps[number];
    yarn_json_text(json, "process", text_of(report, dump->comm));
    yarn_json_u64(json, "pid", dump->process.pid);
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
    yarn_json_u64(json, "stopped_ns", coverage.stopped_ns);
    yarn_json_u64(json, "stopped_cpu_ns", coverage.stopped_cpu_ns);
    yarn_json_bool(json, "clean_end", report->trust.clean_end);
    yarn_json_u64(json, "unwritten_ns", report->trust.unwritten_ns);
    if (!report->is_part)
        yarn_report_put_completeness(report->profile, json);
    yarn_report_put_phases(report, json);
    int err = put_kernel(report, json);
    yarn_json_end_object(json);
    return err;
}

int yarn_report_json(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    put_events(report, out->json);
    put_statuses(report, out->json);
    if (report->view == YARN_REPORT_BRANCHES)
        yarn_report_branches(report, out);
    else
        yarn_report_rows(report, out);
    if (report->view == YARN_REPORT_CALLS)
        yarn_report_calls(report, out);
    else if (report->view == YARN_REPORT_TREE || report->view == YARN_REPORT_CALLERS)
        yarn_report_nodes(report, out);
    int err = yarn_report_put_programs(report, out);
    return err ? err : put_notes(report, out->json);
}
