/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/programs.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/report.h"

/* Programs of trees that were recorded from outside. */

enum { ROWS_MOST = 10 };

static void get_unsampled(struct yarn_show_cell *cell)
{
    const struct yarn_program *program = cell->row;
    yarn_show_u64(cell, yarn_u64_minus(program->cpu_ns, program->sampled_ns));
}

#define MEMBER(name) YARN_SHOW_MEMBER(struct yarn_program, name)

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("program", NULL, MEMBER(name)),
    YARN_SHOW_COLUMN("processes", "PROCESSES", MEMBER(processes), .unit = YARN_SHOW_GROUPED,
                     .width = 9),
    YARN_SHOW_COLUMN("silent", "SILENT", MEMBER(silent), .unit = YARN_SHOW_GROUPED, .gap = 2,
                     .width = 7),
    YARN_SHOW_COLUMN("unknown", "UNKNOWN", MEMBER(unknown), .unit = YARN_SHOW_GROUPED, .gap = 2,
                     .width = 7),
    YARN_SHOW_COLUMN("cpu_ns", "CPU TIME", MEMBER(cpu_ns), .unit = YARN_SHOW_NS, .gap = 2,
                     .width = 10),
    YARN_SHOW_COLUMN("sampled_ns", "SAMPLED", MEMBER(sampled_ns), .unit = YARN_SHOW_NS, .gap = 2,
                     .width = 10),
    YARN_SHOW_COLUMN("unsampled_ns", "UNSAMPLED", .get = get_unsampled, .unit = YARN_SHOW_NS,
                     .gap = 2, .width = 10),
    YARN_SHOW_COLUMN(NULL, "PROGRAM", MEMBER(name), .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

static size_t limit_of(const struct yarn_profile_report *report)
{
    if (report->rows.by == YARN_BY_PROGRAM || !report->limit)
        return report->limit;
    return yarn_size_min(report->limit, ROWS_MOST);
}

static void print(const struct yarn_profile_report *report, const struct yarn_out *out,
                  const struct yarn_programs *programs)
{
    struct yarn_show_table table = {.out = out, .self = report, .parts = {columns}, true};
    size_t limit = limit_of(report), count = programs->count;
    size_t shown = limit ? yarn_size_min(limit, count) : count;
    (void)fprintf(out->file, "\nThe tree: %s process%s, ",
                  yarn_number_grouped(programs->all.processes).text,
                  programs->all.processes == 1 ? "" : "es");
    (void)fprintf(out->file, "%s of CPU time; %s without a sample\n\n",
                  yarn_number_duration(programs->all.cpu_ns).text,
                  yarn_number_grouped(programs->all.silent).text);
    yarn_show_rows(&table, NULL, programs->programs, shown, sizeof *programs->programs, 0);
    if (shown < count)
        (void)fprintf(out->file, "%s… and %s; --by=program --limit=0 shows all%s\n",
                      yarn_out_paint(out, YARN_PAINT_FAINT),
                      yarn_number_of_things(count - shown, "more program").text,
                      yarn_out_plain(out));
}

/* Where each process has its samples, the rows above tell it all. */
int yarn_report_print_programs(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_programs programs;
    int err = yarn_programs_of(report->profile, &programs);
    bool is_worth = report->rows.by == YARN_BY_PROGRAM || programs.all.silent > 1 ||
                    programs.all.unknown || !report->rows.count;
    if (!err && programs.count && is_worth && !report->is_part)
        print(report, out, &programs);
    yarn_programs_fini(&programs);
    return err;
}

int yarn_report_put_programs(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_json *json = out->json;
    struct yarn_programs programs;
    struct yarn_show_table table = {.out = out, .self = report, .parts = {columns}};
    int err = yarn_programs_of(report->profile, &programs);
    if (!err && programs.count) {
        yarn_json_begin_object(json, "tree");
        yarn_json_u64(json, "processes", programs.all.processes);
        yarn_json_u64(json, "silent", programs.all.silent);
        yarn_json_u64(json, "unknown", programs.all.unknown);
        yarn_json_u64(json, "cpu_ns", programs.all.cpu_ns);
        yarn_json_u64(json, "sampled_ns", programs.all.sampled_ns);
        yarn_json_u64(json, "counted_ns", programs.counted_ns);
        yarn_json_u64(json, "stray", programs.stray);
        yarn_show_rows(&table, "programs", programs.programs, programs.count,
                       sizeof *programs.programs, 0);
        yarn_json_end_object(json);
    }
    yarn_programs_fini(&programs);
    return err;
}
