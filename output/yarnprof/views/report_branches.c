/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/show/table.h"
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

static struct end end_of_cell(const struct yarn_show_cell *cell, size_t nth)
{
    const struct yarn_profile_branch *branch = cell->row;
    return end_of(cell->self, nth ? branch->to : branch->from);
}

static const char *event_of(const struct yarn_profile_report *report,
                            const struct yarn_profile_branch *branch)
{
    return yarn_profile_text(report->profile, report->profile->events[branch->event].name);
}

static void get_event(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, event_of(cell->self, cell->row));
}

static void get_function(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, end_of_cell(cell, cell->column->nth).function);
}

static void get_module(struct yarn_show_cell *cell)
{
    yarn_show_text_if(cell, end_of_cell(cell, cell->column->nth).module);
}

static void get_offset(struct yarn_show_cell *cell)
{
    struct end end = end_of_cell(cell, cell->column->nth);
    yarn_show_u64_if(cell, end.has_offset, end.offset);
}

/* Not every processor counts them. */
static void get_cycles(struct yarn_show_cell *cell)
{
    const struct yarn_profile_branch *branch = cell->row;
    yarn_show_u64(cell, branch->cycles);
    if (!branch->cycles)
        yarn_show_add(cell, "-");
}

static void get_edge(struct yarn_show_cell *cell)
{
    for (size_t i = 0; i < 2; i++) {
        struct end end = end_of_cell(cell, i);
        yarn_show_add(cell, "%s%s", i ? " -> " : "", end.function);
        if (end.has_offset)
            yarn_show_add(cell, "+0x%" PRIx64, end.offset);
        if (end.module[0])
            yarn_show_add(cell, " (%s)", end.module);
    }
}

#define COUNT(name) YARN_SHOW_MEMBER(struct yarn_profile_branch, name), .unit = YARN_SHOW_GROUPED

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("event", NULL, .get = get_event),
    YARN_SHOW_COLUMN("from", NULL, .get = get_function),
    YARN_SHOW_COLUMN("from_module", NULL, .get = get_module),
    YARN_SHOW_COLUMN("from_offset", NULL, .get = get_offset),
    YARN_SHOW_COLUMN("to", NULL, .get = get_function, .nth = 1),
    YARN_SHOW_COLUMN("to_module", NULL, .get = get_module, .nth = 1),
    YARN_SHOW_COLUMN("to_offset", NULL, .get = get_offset, .nth = 1),
    YARN_SHOW_COLUMN("count", "COUNT", COUNT(count), .width = 14),
    YARN_SHOW_COLUMN("mispredicted", "MISPREDICTED", COUNT(mispredicted), .gap = 2, .width = 14),
    YARN_SHOW_COLUMN("cycles", "CYCLES", .get = get_cycles, .unit = YARN_SHOW_GROUPED, .gap = 2,
                     .width = 14),
    YARN_SHOW_COLUMN(NULL, "FROM -> TO", .get = get_edge, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

/* The branches of each event below its name. */
static void print_text(const struct yarn_profile_report *report, const struct yarn_out *out,
                       const struct yarn_show_table *table, size_t count)
{
    const char *event = NULL;
    yarn_report_print_head(report, out);
    for (size_t i = 0; i < count; i++) {
        const struct yarn_profile_branch *branch = &report->branches.rows[i];
        if (!event || strcmp(event, event_of(report, branch)) != 0) {
            event = event_of(report, branch);
            (void)fputc('\n', out->file);
            yarn_print_cut(out, event, 0);
            (void)fputs(": branches seen beside its samples\n\n", out->file);
            yarn_show_head(table);
        }
        yarn_show_row(table, branch);
    }
    if (!report->branches.count)
        (void)fputs("\nNo branches were recorded: give a counter of the cpu branch=any, as in "
                    "cycles/branch=any/.\n",
                    out->file);
}

void yarn_report_branches(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_branches *branches = &report->branches;
    struct yarn_show_table table = {.out = out, .self = report, .parts = {columns}};
    size_t limit = report->limit ? report->limit : SIZE_MAX;
    if (out->format == YARN_OUT_TEXT)
        print_text(report, out, &table, yarn_size_min(limit, branches->count));
    else
        yarn_show_rows(&table, "rows", branches->rows, branches->count, sizeof *branches->rows,
                       limit);
}
