/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/event_status.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/report.h"

enum {
    FIXED_COLUMNS = 34, /* of the numbers and the gaps before the names */
    NAME_LEAST = 24,
    MODULE_MOST = 28,
    NAME_MOST = 100, /* columns, where the output is no terminal */
    COMMAND_BYTES = 4096,
};

/* The function, and where it is; of a function as a whole the latter alone. */
static void show_place(struct yarn_show_cell *cell, const struct yarn_profile *profile,
                       const struct yarn_place *place)
{
    const struct yarn_profile_function *function = &profile->functions[place->function];
    const char *module = yarn_profile_text(profile, profile->modules[function->module].base);
    if (place->line)
        yarn_show_add(cell, "%s ", yarn_profile_text(profile, function->name));
    yarn_show_add(cell, "(%s)", module);
}

void yarn_report_get_detail(struct yarn_show_cell *cell)
{
    const struct yarn_profile_report *report = cell->self;
    const struct yarn_profile *profile = report->profile;
    uint32_t key = ((const struct yarn_row *)cell->row)->key;
    if (report->rows.by == YARN_BY_LINE) {
        show_place(cell, profile, &profile->places.places[key]);
    } else if (report->rows.by == YARN_BY_FUNCTION) {
        uint32_t base = profile->modules[profile->functions[key].module].base;
        yarn_show_text_if(cell, yarn_profile_text(profile, base));
    } else if (report->rows.by == YARN_BY_MODULE) {
        yarn_show_text_if(cell, yarn_profile_text(profile, profile->modules[key].path));
    } else if (report->rows.by == YARN_BY_THREAD) {
        const struct yarn_profile_thread *thread = &profile->threads[key];
        const struct yarn_profile_dump *dump = &profile->dumps[thread->dump];
        yarn_show_add(cell, "%u of %s %u", thread->tid, yarn_profile_text(profile, dump->program),
                      dump->process.pid);
    } else if (report->rows.by == YARN_BY_PROCESS) {
        yarn_show_u64(cell, profile->dumps[key].process.pid);
    }
    if (cell->kind == YARN_SHOW_NONE)
        cell->kind = YARN_SHOW_MISSING;
    cell->paint = YARN_PAINT_FAINT;
}

/* The whole where there is no memory. */
static const char *short_command(const struct yarn_profile_report *report, const char *command)
{
    static char room[COMMAND_BYTES];
    struct yarn_text text = yarn_text_of(room, sizeof room);
    int err = yarn_commands_name(report->commands, command, report->command_columns, &text);
    return err || text.cut ? command : room;
}

void yarn_report_get_name(struct yarn_show_cell *cell)
{
    const struct yarn_profile_report *report = cell->self;
    const struct yarn_row *row = cell->row;
    if (report->commands) {
        const char *command = yarn_by_name(report->profile, report->rows.by, row->key);
        yarn_show_add(cell, "%s", short_command(report, command));
        return;
    }
    if (report->rows.by == YARN_BY_CPU)
        yarn_show_add(cell, "cpu %u", row->key);
    else
        yarn_show_add(cell, "%s%s", yarn_by_name(report->profile, report->rows.by, row->key),
                      report->rows.by == YARN_BY_FUNCTION
                          ? yarn_report_inlined_of(report->profile, row->key)
                          : "");
}

/* In the event's unit. */
static void get_amount(struct yarn_show_cell *cell)
{
    const struct yarn_profile *profile = ((const struct yarn_profile_report *)cell->self)->profile;
    const struct yarn_row *row = cell->row;
    const char *unit = yarn_profile_text(profile, profile->events[row->event].unit);
    yarn_show_add(cell, "%s", yarn_number_in_unit(row->self, unit).text);
}

enum { AMOUNT, NAME, DETAIL, NAME_COLUMNS };

struct widths {
    size_t name, detail; /* 0: as long as it is */
};

static struct widths fit(const struct yarn_profile_report *report,
                         const struct yarn_show_table *table, const struct yarn_row *rows,
                         size_t count)
{
    const struct yarn_out *out = table->out;
    const struct yarn_show_column *columns = table->parts[1];
    struct widths widths = {.name = strlen(yarn_by_key(report->rows.by)->title)};
    for (size_t i = 0; i < count; i++) {
        const char *name = yarn_show_text_of(table, &columns[NAME], &rows[i]);
        widths.name = yarn_size_max(widths.name, yarn_text_columns(name));
        const char *detail = yarn_show_text_of(table, &columns[DETAIL], &rows[i]);
        widths.detail = yarn_size_max(widths.detail, yarn_text_columns(detail));
    }
    if (!out->columns)
        return widths.name > NAME_MOST ? (struct widths){NAME_MOST, 0} : widths;
    size_t room = (size_t)out->columns > FIXED_COLUMNS + NAME_LEAST
                      ? (size_t)out->columns - FIXED_COLUMNS
                      : NAME_LEAST;
    if (report->rows.by == YARN_BY_FUNCTION)
        widths.detail = yarn_size_min(widths.detail, MODULE_MOST);
    if (widths.name + 2 + widths.detail <= room)
        return widths;
    if (widths.detail + 2 + NAME_LEAST <= room)
        widths.name = yarn_size_min(widths.name, room - widths.detail - 2);
    else
        widths.name = yarn_size_min(widths.name, room / 2);
    widths.detail = room > widths.name + 2 ? room - widths.name - 2 : 1;
    return widths;
}

bool yarn_report_is_one_share(const struct yarn_profile_report *report)
{
    return !yarn_by_key(report->rows.by)->is_of_frame && report->choice->has_all_functions;
}

/* What the looks stand for, and what the switch records say of all waits. */
static void print_off_cpu(const struct yarn_profile_report *report, const struct yarn_out *out,
                          uint64_t total_ns)
{
    (void)fprintf(out->file, ": %s, %s estimated; the threads were blocked ",
                  yarn_number_of_things(report->trust.looks, "look").text,
                  yarn_number_duration(total_ns).text);
    (void)fprintf(out->file, "%s\n", yarn_number_duration(report->trust.waited_ns).text);
}

void yarn_report_print_event(const struct yarn_profile_report *report, const struct yarn_out *out,
                             uint32_t number)
{
    const struct yarn_profile_event *event = &report->profile->events[number];
    const char *unit = yarn_profile_text(report->profile, event->unit);
    bool is_time = strcmp(unit, "ns") == 0;
    yarn_print_cut(out, yarn_profile_text(report->profile, event->name), 0);
    if (event->flags & YARN_DUMP_EVENT_IS_OFF_CPU && !report->is_part) {
        print_off_cpu(report, out, event->total);
        return;
    }
    (void)fprintf(out->file, ": %s, %s%s%s", yarn_number_of_things(event->samples, "sample").text,
                  yarn_number_in_unit(event->total, unit).text, is_time ? "" : " ",
                  is_time ? "" : unit);
    double running = yarn_profile_running_percent(report->profile, number);
    if (running < YARN_EVENT_RUNNING_WHOLE)
        (void)fprintf(out->file, ", running %.1f %% of the time, not scaled", running);
    uint64_t count;
    if (yarn_report_overshoots(report, number, &count))
        (void)fprintf(out->file, " by their periods, %s counted (/period=N/ is exact)",
                      yarn_number_in_unit(count, unit).text);
    (void)fputc('\n', out->file);
}

static void print_table(const struct yarn_profile_report *report, const struct yarn_out *out,
                        const struct yarn_row *rows, size_t count)
{
    (void)fputc('\n', out->file);
    yarn_report_print_event(report, out, rows[0].event);
    (void)fputc('\n', out->file);
    size_t shown = report->limit ? yarn_size_min(report->limit, count) : count;
    const struct yarn_profile_event *event = &report->profile->events[rows[0].event];
    bool is_time = strcmp(yarn_profile_text(report->profile, event->unit), "ns") == 0;
    struct yarn_show_column names[NAME_COLUMNS + 1] = {
        [AMOUNT] = YARN_SHOW_COLUMN(NULL, is_time ? "TIME" : "COUNT", .get = get_amount, .gap = 2,
                                    .width = 10),
        [NAME] = YARN_SHOW_COLUMN(NULL, yarn_by_key(report->rows.by)->title,
                                  .get = yarn_report_get_name, .gap = 2),
        [DETAIL] =
            YARN_SHOW_COLUMN(NULL, yarn_by_key(report->rows.by)->detail_title,
                             .get = yarn_report_get_detail, .align = YARN_SHOW_TAIL, .gap = 2),
    };
    struct yarn_show_table table = {
        .out = out, .self = report, .parts = {yarn_report_sums, names}, .has_paint = true};
    struct widths widths = fit(report, &table, rows, shown);
    names[NAME].width = (unsigned)widths.name;
    names[NAME].align = yarn_report_name_align(report->rows.by);
    names[DETAIL].width = out->columns ? (unsigned)widths.detail : 0;
    yarn_show_rows(&table, NULL, rows, shown, sizeof *rows, 0);
    if (shown < count)
        (void)fprintf(out->file, "%s… and %s; --limit=0 shows all%s\n",
                      yarn_out_paint(out, YARN_PAINT_FAINT),
                      yarn_number_of_things(count - shown, "more row").text, yarn_out_plain(out));
    yarn_report_print_missing(report, out, rows[0].event);
}

/* Threads or processes too short for a sample leave only what is missing. */
static void print_only_missing(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_profile *profile = report->profile;
    for (uint32_t i = 0; i < profile->nr_events; i++) {
        struct yarn_report_missing missing = yarn_report_missing_of(report, i);
        if (!profile->events[i].was_opened ||
            (!missing.lost && !missing.unsampled_ns && !missing.kernel_ns) ||
            !report->choice->events[i])
            continue;
        (void)fputc('\n', out->file);
        yarn_report_print_event(report, out, i);
        (void)fputc('\n', out->file);
        yarn_report_print_missing(report, out, i);
    }
}

static void print_rows(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    const struct yarn_rows *rows = &report->rows;
    for (size_t begin = 0; begin < rows->count;) {
        size_t end = begin + 1;
        while (end < rows->count && rows->rows[end].event == rows->rows[begin].event)
            end++;
        print_table(report, out, &rows->rows[begin], end - begin);
        begin = end;
    }
    if (!rows->count && report->trust.samples)
        (void)fputs("\nNothing is left by the filters.\n", out->file);
    else if (!rows->count && !report->is_part)
        print_only_missing(report, out);
}

static int print_all(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    bool is_done = false;
    int err = 0;
    yarn_report_print_head(report, out);
    if (report->view != YARN_REPORT_ROWS) {
        yarn_report_print_tree(report, out);
        yarn_report_print_phases(report, out);
        return 0;
    }
    if (report->is_side_by_side && report->rows.count)
        err = yarn_report_print_side(report, out, &is_done);
    if (!err && !is_done)
        print_rows(report, out);
    if (!err)
        err = yarn_report_print_programs(report, out);
    yarn_report_print_phases(report, out);
    yarn_report_print_foot(report, out);
    return err;
}

int yarn_report_text(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct yarn_profile_report own = *report;
    struct yarn_commands commands;
    if (report->rows.by != YARN_BY_COMMAND)
        return print_all(report, out);
    int err = yarn_commands_of(report->profile, &commands);
    if (err)
        return err;
    own.commands = &commands;
    own.command_columns = out->columns > FIXED_COLUMNS + NAME_LEAST
                              ? (size_t)(out->columns - FIXED_COLUMNS)
                          : out->columns ? NAME_LEAST
                                         : NAME_MOST;
    err = print_all(&own, out);
    yarn_commands_fini(&commands);
    return err;
}
