/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"
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

/* The measured time of such a call is mostly that of the measurement. */
static bool is_below_probe(const struct yarn_profile_report *report,
                           const struct yarn_call_row *row)
{
    uint64_t probe_ns = yarn_calls_probe_ns(&report->calls);
    return row->calls && probe_ns && each_ns(row) < probe_ns;
}

static void get_function(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, name_of(cell->self, cell->row));
}

static void get_module(struct yarn_show_cell *cell)
{
    yarn_show_text_if(cell, module_of(cell->self, cell->row));
}

static void get_event(struct yarn_show_cell *cell)
{
    const struct yarn_profile *profile = ((const struct yarn_profile_report *)cell->self)->profile;
    const struct yarn_call_row *row = cell->row;
    yarn_show_text(cell, yarn_profile_text(profile, profile->events[row->event].name));
}

static bool has_clock(const struct yarn_profile_report *report)
{
    return report->calls.clock != YARN_DUMP_NONE;
}

static void get_total(struct yarn_show_cell *cell)
{
    const struct yarn_call_row *row = cell->row;
    yarn_show_u64_if(cell, has_clock(cell->self), row->total_ns);
}

static void get_each(struct yarn_show_cell *cell)
{
    const struct yarn_call_row *row = cell->row;
    yarn_show_u64_if(cell, has_clock(cell->self) && row->calls, each_ns(row));
}

static void get_below_probe(struct yarn_show_cell *cell)
{
    yarn_show_bool(cell, is_below_probe(cell->self, cell->row));
}

static void get_note(struct yarn_show_cell *cell)
{
    if (is_below_probe(cell->self, cell->row))
        yarn_show_text(cell, "(costs less than its probe)");
    else
        cell->kind = YARN_SHOW_MISSING;
}

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("function", NULL, .get = get_function),
    YARN_SHOW_COLUMN("module", NULL, .get = get_module),
    YARN_SHOW_COLUMN("event", NULL, .get = get_event),
    YARN_SHOW_COLUMN("calls", "CALLS", YARN_SHOW_MEMBER(struct yarn_call_row, calls),
                     .unit = YARN_SHOW_GROUPED, .width = 14),
    YARN_SHOW_COLUMN("total_ns", "TOTAL", .get = get_total, .unit = YARN_SHOW_NS, .gap = 2,
                     .width = 12),
    YARN_SHOW_COLUMN("per_call_ns", "A CALL", .get = get_each, .unit = YARN_SHOW_NS, .gap = 2,
                     .width = 12),
    YARN_SHOW_COLUMN("samples", NULL, YARN_SHOW_MEMBER(struct yarn_call_row, samples)),
    YARN_SHOW_COLUMN("below_probe", NULL, .get = get_below_probe),
    YARN_SHOW_COLUMN(NULL, "FUNCTION", .get = get_function, .align = YARN_SHOW_TAIL, .gap = 2),
    YARN_SHOW_COLUMN(NULL, "", .get = get_module, .align = YARN_SHOW_TAIL, .gap = 2),
    YARN_SHOW_COLUMN(NULL, "", .get = get_note, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

static void print_probe(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    uint64_t probe_ns = yarn_calls_probe_ns(&report->calls);
    if (!report->calls.count)
        (void)fputs(
            "No calls were counted: events such as uprobe:PATH:SYMBOL or mem:SYMBOL:x count "
            "them.\n",
            out->file);
    else if (!has_clock(report))
        (void)fputs("\nNo clock was sampled beside the probes: add cpu-clock to the events.\n",
                    out->file);
    else if (probe_ns)
        (void)fprintf(out->file, "\nA probe itself takes %s a call, which is in no row.\n",
                      yarn_number_duration(probe_ns).text);
    else
        (void)fputs("\nThe kernel was not sampled: what the probes themselves take is in no row.\n",
                    out->file);
}

void yarn_report_calls(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_calls *calls = &report->calls;
    struct yarn_show_table table = {.out = out, .self = report, .parts = {columns}};
    if (out->format == YARN_OUT_TEXT) {
        yarn_report_print_head(report, out);
        (void)fputc('\n', out->file);
    }
    yarn_show_rows(&table, "calls", calls->rows, calls->count, sizeof *calls->rows, report->limit);
    if (out->format == YARN_OUT_TEXT)
        print_probe(report, out);
    else if (out->format == YARN_OUT_JSON)
        yarn_json_u64_if(out->json, "probe_ns", has_clock(report) && calls->knows_probe_ns,
                         yarn_calls_probe_ns(calls));
}
