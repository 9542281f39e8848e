/* SPDX-License-Identifier: Apache-2.0 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/analysis/time/kernel_time.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/report.h"

/* By the kernel's count; a recording that broke off has only the sum over its events. */
static uint64_t lost_of_dump(const struct yarn_profile_dump *dump, uint32_t number)
{
    uint64_t lost = 0;
    bool has_count = false;
    size_t nr_opened = 0;
    for (size_t i = 0; i < dump->nr_events; i++) {
        const struct yarn_profile_dump_event *event = &dump->events[i];
        nr_opened += event->record.name.size && !event->record.error;
        if (event->event == number && event->has_count) {
            lost += event->count.lost;
            has_count = true;
        }
    }
    if (nr_opened == 1 || !has_count)
        lost = yarn_u64_max(lost, nr_opened == 1 ? dump->trust.lost : 0);
    return lost;
}

bool yarn_report_overshoots(const struct yarn_profile_report *report, uint32_t number,
                            uint64_t *ret_count)
{
    const struct yarn_profile *profile = report->profile;
    bool has_all = !report->is_part;
    *ret_count = 0;
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t e = 0; e < dump->nr_events; e++) {
            const struct yarn_profile_dump_event *event = &dump->events[e];
            if (event->event != number || !event->samples)
                continue;
            has_all =
                has_all && event->has_count && event->record.flags & YARN_DUMP_EVENT_IS_FREQUENCY;
            *ret_count += event->count.count;
        }
    }
    return has_all && profile->events[number].total > *ret_count + *ret_count / 50;
}

struct yarn_report_missing yarn_report_missing_of(const struct yarn_profile_report *report,
                                                  uint32_t number)
{
    const struct yarn_profile *profile = report->profile;
    struct yarn_report_missing missing = {0};
    for (size_t i = 0; i < profile->nr_dumps; i++)
        missing.lost += lost_of_dump(&profile->dumps[i], number);
    missing.lost_weight = missing.lost * profile->events[number].period;
    if (yarn_kernel_time_event(profile) != number)
        return missing;
    missing.kernel_ns = report->trust.kernel_ns;
    missing.unsampled_ns =
        report->trust.unsampled_ns - yarn_u64_min(report->trust.unsampled_ns, missing.lost_weight);
    return missing;
}

/* "" where the event has no unit for it. */
static void print_amount(const struct yarn_profile_report *report, const struct yarn_out *out,
                         uint32_t number, uint64_t weight, uint64_t whole, uint64_t samples)
{
    const struct yarn_profile_event *event = &report->profile->events[number];
    const char *unit = yarn_profile_text(report->profile, event->unit);
    (void)fputs(yarn_out_paint(out, YARN_PAINT_WARNING), out->file);
    if (weight && whole)
        (void)fprintf(out->file, "%6.2f %%  ", yarn_percent(weight, whole));
    else
        (void)fprintf(out->file, "%10s", "");
    if (yarn_report_is_one_share(report))
        (void)fprintf(out->file, "%10s", samples ? yarn_number_grouped(samples).text : "");
    else
        (void)fprintf(out->file, "%8s", "");
    (void)fprintf(out->file, "  %10s  ", weight ? yarn_number_in_unit(weight, unit).text : "");
}

static void print_lost(const struct yarn_profile_report *report, const struct yarn_out *out,
                       uint32_t number, const struct yarn_report_missing *missing)
{
    print_amount(report, out, number, missing->lost_weight, report->profile->events[number].total,
                 missing->lost);
    (void)fprintf(out->file, "[lost]  %s%s\n", yarn_number_of_things(missing->lost, "sample").text,
                  yarn_out_plain(out));
}

/* Its share is of all CPU time, most of which may have no sample. */
static void print_time(const struct yarn_profile_report *report, const struct yarn_out *out,
                       uint32_t number, const char *name, uint64_t ns)
{
    print_amount(report, out, number, ns, report->trust.cpu_ns, 0);
    (void)fprintf(out->file, "%s  of the CPU time%s\n", name, yarn_out_plain(out));
}

static void print_kernel_of(const struct yarn_profile_report *report, const struct yarn_out *out,
                            uint32_t number, const struct yarn_kernel_time *time)
{
    const struct yarn_profile *profile = report->profile;
    const struct yarn_profile_dump *dump = &profile->dumps[time->dump];
    bool is_thread = time->thread != YARN_DUMP_NONE;
    uint32_t comm = is_thread ? profile->threads[time->thread].comm : dump->comm;
    uint32_t id = is_thread ? profile->threads[time->thread].tid : dump->process.pid;
    print_amount(report, out, number, time->ns, report->trust.cpu_ns, 0);
    (void)fputs("[kernel] in ", out->file);
    yarn_print_cut(out, yarn_profile_text(profile, comm), 0);
    (void)fprintf(out->file, "  %s%u  of the CPU time%s\n",
                  report->rows.by == YARN_BY_THREAD && !is_thread ? "threads of " : "", id,
                  yarn_out_plain(out));
}

/* A row each for threads or processes, where they are what the table is of. */
static void print_kernel(const struct yarn_profile_report *report, const struct yarn_out *out,
                         uint32_t number, uint64_t ns)
{
    bool is_by_thread = report->rows.by == YARN_BY_THREAD;
    struct yarn_kernel_time *list = NULL;
    size_t count = 0;
    if ((!is_by_thread && report->rows.by != YARN_BY_PROCESS) ||
        yarn_kernel_time_of(report->profile, is_by_thread, &list, &count)) {
        print_time(report, out, number, "[kernel]", ns);
        return;
    }
    size_t shown = report->limit ? yarn_size_min(report->limit, count) : count;
    for (size_t i = 0; i < shown; i++)
        print_kernel_of(report, out, number, &list[i]);
    if (shown < count)
        (void)fprintf(out->file, "… and %s\n",
                      yarn_number_of_things(count - shown, "more row of [kernel]").text);
    free(list);
}

void yarn_report_print_missing(const struct yarn_profile_report *report, const struct yarn_out *out,
                               uint32_t event)
{
    if (report->is_part)
        return;
    struct yarn_report_missing missing = yarn_report_missing_of(report, event);
    if (missing.lost)
        print_lost(report, out, event, &missing);
    if (missing.kernel_ns)
        print_kernel(report, out, event, missing.kernel_ns);
    if (missing.unsampled_ns)
        print_time(report, out, event, "[unsampled]", missing.unsampled_ns);
}
