/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/text/json.h"
#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/csv.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/report.h"

/* Exact calls beside sampled time. */

static const char *name_of(const struct yarn_profile_report *report,
                           const struct yarn_call_row *row)
{
    const struct yarn_profile *profile = report->profile;
    return row->function == YARN_DUMP_NONE
               ? yarn_profile_text(profile, profile->events[row->event].name)
               : yarn_profile_text(profile, profile->functions[row->function].name);
}

static const char *module_of(const struct yarn_profile_report *report,
                             const struct yarn_call_row *row)
{
    const struct yarn_profile *profile = report->profile;
    uint32_t module =
        row->function == YARN_DUMP_NONE ? 0 : profile->functions[row->function].module;
    return module ? yarn_profile_text(profile, profile->modules[module].base) : "";
}

static uint64_t each_ns(const struct yarn_call_row *row)
{
    return row->calls ? row->total_ns / row->calls : 0;
}

/* What is measured is then mostly that it is measured. */
static bool is_below_probe(const struct yarn_profile_report *report,
                           const struct yarn_call_row *row)
{
    uint64_t probe_ns = yarn_calls_probe_ns(&report->calls);
    return row->calls && probe_ns && each_ns(row) < probe_ns;
}

static size_t count_shown(const struct yarn_profile_report *report)
{
    size_t count = report->calls.count;
    return report->limit && report->limit < count ? report->limit : count;
}

void yarn_report_calls_text(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_calls *calls = &report->calls;
    bool has_clock = calls->clock != YARN_DUMP_NONE;
    uint64_t probe_ns = yarn_calls_probe_ns(calls);
    yarn_report_print_head(report, out);
    (void)fprintf(out->file, "\n%14s  %12s  %12s  FUNCTION\n", "CALLS", "TOTAL", "A CALL");
    for (size_t i = 0; i < count_shown(report); i++) {
        const struct yarn_call_row *row = &calls->rows[i];
        (void)fprintf(out->file, "%14s  %12s  %12s  ", yarn_number_grouped(row->calls).text,
                      has_clock ? yarn_number_duration(row->total_ns).text : "-",
                      has_clock && row->calls ? yarn_number_duration(each_ns(row)).text : "-");
        yarn_print_cut(out, name_of(report, row), 0);
        (void)fputs("  ", out->file);
        yarn_print_cut(out, module_of(report, row), 0);
        (void)fputs(is_below_probe(report, row) ? "  (costs less than its probe)\n" : "\n",
                    out->file);
    }
    if (!has_clock)
        (void)fputs("\nNo clock was sampled beside the probes: add cpu-clock to the events.\n",
                    out->file);
    else if (probe_ns)
        (void)fprintf(out->file, "\nA probe itself takes %s a call, which is in no row.\n",
                      yarn_number_duration(probe_ns).text);
    else
        (void)fputs("\nThe kernel was not sampled: what the probes themselves take is in no row.\n",
                    out->file);
}

void yarn_report_calls_csv(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    static const char *const heads[] = {"function", "module",      "event",   "calls",
                                        "total_ns", "per_call_ns", "samples", "below_probe"};
    struct yarn_csv csv = {.file = out->file};
    const struct yarn_profile *profile = report->profile;
    for (size_t i = 0; i < YARN_COUNT_OF(heads); i++)
        yarn_csv_text(&csv, heads[i]);
    yarn_csv_end_line(&csv);
    for (size_t i = 0; i < count_shown(report); i++) {
        const struct yarn_call_row *row = &report->calls.rows[i];
        yarn_csv_text(&csv, name_of(report, row));
        yarn_csv_text(&csv, module_of(report, row));
        yarn_csv_text(&csv, yarn_profile_text(profile, profile->events[row->event].name));
        yarn_csv_u64(&csv, row->calls);
        yarn_csv_u64(&csv, row->total_ns);
        yarn_csv_u64(&csv, each_ns(row));
        yarn_csv_u64(&csv, row->samples);
        yarn_csv_u64(&csv, is_below_probe(report, row));
        yarn_csv_end_line(&csv);
    }
}

void yarn_report_calls_json(const struct yarn_profile_report *report, struct yarn_json *json)
{
    const struct yarn_profile *profile = report->profile;
    const struct yarn_calls *calls = &report->calls;
    bool has_clock = calls->clock != YARN_DUMP_NONE;
    uint64_t probe_ns = yarn_calls_probe_ns(calls);
    yarn_json_begin_array(json, "calls");
    for (size_t i = 0; i < count_shown(report); i++) {
        const struct yarn_call_row *row = &calls->rows[i];
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "function", name_of(report, row));
        yarn_json_text_or_null(json, "module", module_of(report, row));
        yarn_json_text(json, "event", yarn_profile_text(profile, profile->events[row->event].name));
        yarn_json_u64(json, "calls", row->calls);
        yarn_json_u64_if(json, "total_ns", has_clock, row->total_ns);
        yarn_json_u64_if(json, "per_call_ns", has_clock && row->calls, each_ns(row));
        yarn_json_u64(json, "samples", row->samples);
        yarn_json_bool(json, "below_probe", is_below_probe(report, row));
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
    yarn_json_u64_if(json, "probe_ns", has_clock && calls->knows_probe_ns, probe_ns);
}
