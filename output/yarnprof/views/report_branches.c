/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "output/text/json.h"
#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/csv.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/report.h"

/* Branches as edges. */

/* One end of an edge. */
struct end {
    const char *function, *module;
    uint64_t offset;
    bool has_offset;
};

static struct end end_of(const struct yarn_profile_report *report, uint32_t number)
{
    const struct yarn_profile *profile = report->profile;
    struct end end = {.function = "[unknown]", .module = ""};
    if (number == YARN_DUMP_NONE)
        return end;
    const struct yarn_profile_frame *frame = &profile->frames[number];
    const struct yarn_profile_function *function = &profile->functions[frame->function];
    if (!function->is_unknown)
        end.function = yarn_profile_text(profile, function->name);
    if (function->module)
        end.module = yarn_profile_text(profile, profile->modules[function->module].base);
    end.has_offset = !function->is_unknown && frame->address >= frame->start;
    end.offset = end.has_offset ? frame->address - frame->start : 0;
    return end;
}

static const char *event_of(const struct yarn_profile_report *report,
                            const struct yarn_profile_branch *branch)
{
    return yarn_profile_text(report->profile, report->profile->events[branch->event].name);
}

static size_t count_shown(const struct yarn_profile_report *report)
{
    size_t count = report->branches.count;
    return report->limit && report->limit < count ? report->limit : count;
}

static void print_end(const struct yarn_profile_report *report, const struct yarn_out *out,
                      uint32_t number)
{
    struct end end = end_of(report, number);
    yarn_print_cut(out, end.function, 0);
    if (end.has_offset)
        (void)fprintf(out->file, "+0x%" PRIx64, end.offset);
    if (end.module[0]) {
        (void)fputs(" (", out->file);
        yarn_print_cut(out, end.module, 0);
        (void)fputc(')', out->file);
    }
}

void yarn_report_branches_text(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const char *event = NULL;
    yarn_report_print_head(report, out);
    for (size_t i = 0; i < count_shown(report); i++) {
        const struct yarn_profile_branch *branch = &report->branches.rows[i];
        if (!event || strcmp(event, event_of(report, branch)) != 0) {
            event = event_of(report, branch);
            (void)fputc('\n', out->file);
            yarn_print_cut(out, event, 0);
            (void)fprintf(out->file, ": branches seen beside its samples\n\n%14s  %14s  %14s  %s\n",
                          "COUNT", "MISPREDICTED", "CYCLES", "FROM -> TO");
        }
        (void)fprintf(out->file, "%14s  ", yarn_number_grouped(branch->count).text);
        (void)fprintf(out->file, "%14s  ", yarn_number_grouped(branch->mispredicted).text);
        (void)fprintf(out->file, "%14s  ",
                      branch->cycles ? yarn_number_grouped(branch->cycles).text : "-");
        print_end(report, out, branch->from);
        (void)fputs(" -> ", out->file);
        print_end(report, out, branch->to);
        (void)fputc('\n', out->file);
    }
    if (!report->branches.count)
        (void)fputs("\nNo branches were recorded: give a counter of the cpu branch=any, as in "
                    "cycles/branch=any/.\n",
                    out->file);
}

void yarn_report_branches_csv(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    static const char *const heads[] = {"event",        "from",      "from_module", "from_offset",
                                        "to",           "to_module", "to_offset",   "count",
                                        "mispredicted", "cycles"};
    struct yarn_csv csv = {.file = out->file};
    for (size_t i = 0; i < YARN_COUNT_OF(heads); i++)
        yarn_csv_text(&csv, heads[i]);
    yarn_csv_end_line(&csv);
    for (size_t i = 0; i < count_shown(report); i++) {
        const struct yarn_profile_branch *branch = &report->branches.rows[i];
        const struct end ends[] = {end_of(report, branch->from), end_of(report, branch->to)};
        yarn_csv_text(&csv, event_of(report, branch));
        for (size_t e = 0; e < YARN_COUNT_OF(ends); e++) {
            yarn_csv_text(&csv, ends[e].function);
            yarn_csv_text(&csv, ends[e].module);
            yarn_csv_u64(&csv, ends[e].offset);
        }
        yarn_csv_u64(&csv, branch->count);
        yarn_csv_u64(&csv, branch->mispredicted);
        yarn_csv_u64(&csv, branch->cycles);
        yarn_csv_end_line(&csv);
    }
}

void yarn_report_branches_json(const struct yarn_profile_report *report, struct yarn_json *json)
{
    yarn_json_begin_array(json, "rows");
    for (size_t i = 0; i < count_shown(report); i++) {
        const struct yarn_profile_branch *branch = &report->branches.rows[i];
        struct end from = end_of(report, branch->from), to = end_of(report, branch->to);
        yarn_json_begin_object(json, NULL);
        yarn_json_text(json, "event", event_of(report, branch));
        yarn_json_text(json, "from", from.function);
        yarn_json_text_or_null(json, "from_module", from.module);
        yarn_json_u64_if(json, "from_offset", from.has_offset, from.offset);
        yarn_json_text(json, "to", to.function);
        yarn_json_text_or_null(json, "to_module", to.module);
        yarn_json_u64_if(json, "to_offset", to.has_offset, to.offset);
        yarn_json_u64(json, "count", branch->count);
        yarn_json_u64(json, "mispredicted", branch->mispredicted);
        yarn_json_u64(json, "cycles", branch->cycles);
        yarn_json_end_object(json);
    }
    yarn_json_end_array(json);
}
