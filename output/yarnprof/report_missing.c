/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "output/yarnprof/numbers.h"
#include "output/yarnprof/report.h"

/* The event whose count the recorder compares with the samples: the first clock. */
static bool is_reference(const struct yarn_profile *profile, uint32_t number)
{
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        if (profile->events[i].was_opened && (profile->events[i].flags & YARN_DUMP_EVENT_IS_CLOCK))
            return i == number;
    }
    return false;
}

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

struct yarn_report_missing yarn_report_missing_of(const struct yarn_report *report, uint32_t number)
{
    const struct yarn_profile *profile = report->profile;
    struct yarn_report_missing missing = {0};
    for (size_t i = 0; i < profile->nr_dumps; i++)
        missing.lost += lost_of_dump(&profile->dumps[i], number);
    missing.lost_weight = missing.lost * profile->events[number].period;
    if (is_reference(profile, number))
        missing.unsampled_ns = report->trust.unsampled_ns -
                               yarn_u64_min(report->trust.unsampled_ns, missing.lost_weight);
    return missing;
}

static void print(const struct yarn_report *report, const struct yarn_out *out, uint32_t number,
                  const char *name, uint64_t weight, uint64_t samples)
{
    const struct yarn_profile_event *event = &report->profile->events[number];
    const char *unit = yarn_profile_text(report->profile, event->unit);
    (void)fputs(yarn_out_paint(out, YARN_PAINT_WARNING), out->file);
    if (weight && event->total)
        (void)fprintf(out->file, "%6.2f %%  ", yarn_percent(weight, event->total));
    else
        (void)fprintf(out->file, "%10s", "");
    if (yarn_report_is_one_share(report))
        (void)fprintf(out->file, "%10s", samples ? yarn_number_grouped(samples).text : "");
    else
        (void)fprintf(out->file, "%8s", "");
    (void)fprintf(out->file, "  %10s  %s", weight ? yarn_number_in_unit(weight, unit).text : "",
                  name);
    if (samples)
        (void)fprintf(out->file, "  %s", yarn_number_of_things(samples, "sample").text);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
}

void yarn_report_print_missing(const struct yarn_report *report, const struct yarn_out *out,
                               uint32_t event)
{
    if (report->is_part)
        return;
    struct yarn_report_missing missing = yarn_report_missing_of(report, event);
    if (missing.lost)
        print(report, out, event, "[lost]", missing.lost_weight, missing.lost);
    if (missing.unsampled_ns)
        print(report, out, event, "[unsampled]", missing.unsampled_ns, 0);
}
