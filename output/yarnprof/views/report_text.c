/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/report.h"

enum {
    FIXED_COLUMNS = 34, /* of the numbers and the gaps before the names */
    NAME_LEAST = 24,
    MODULE_MOST = 28,
};

#define HOT_PERCENT 5.0
#define WARM_PERCENT 0.5

enum yarn_paint yarn_report_paint_of(double percent)
{
    return percent >= HOT_PERCENT    ? YARN_PAINT_HOT
           : percent >= WARM_PERCENT ? YARN_PAINT_WARM
                                     : YARN_PAINT_FAINT;
}

static void print_percent(const struct yarn_out *out, double percent)
{
    (void)fprintf(out->file, "%s%6.2f %%%s", yarn_out_paint(out, yarn_report_paint_of(percent)),
                  percent, yarn_out_plain(out));
}

/* The function, and where it is; of a function as a whole the latter alone. */
static void detail_of_line(const struct yarn_profile *profile, const struct yarn_place *place,
                           char *ret_text, size_t size)
{
    const struct yarn_profile_function *function = &profile->functions[place->function];
    const char *module = yarn_profile_text(profile, profile->modules[function->module].base);
    if (place->line)
        (void)snprintf(ret_text, size, "%s (%s)", yarn_profile_text(profile, function->name),
                       module);
    else
        (void)snprintf(ret_text, size, "(%s)", module);
}

/* The second name of a row: of the module, of the process, …; "" where there is none. */
void yarn_report_detail(const struct yarn_profile_report *report, const struct yarn_row *row,
                        char *ret_text, size_t size)
{
    const struct yarn_profile *profile = report->profile;
    ret_text[0] = 0;
    if (report->rows.by == YARN_BY_LINE) {
        detail_of_line(profile, &profile->places.places[row->key], ret_text, size);
    } else if (report->rows.by == YARN_BY_FUNCTION) {
        const struct yarn_profile_function *function = &profile->functions[row->key];
        uint32_t base = profile->modules[function->module].base;
        (void)snprintf(ret_text, size, "%s", yarn_profile_text(profile, base));
    } else if (report->rows.by == YARN_BY_MODULE) {
        uint32_t path = profile->modules[row->key].path;
        (void)snprintf(ret_text, size, "%s", yarn_profile_text(profile, path));
    } else if (report->rows.by == YARN_BY_THREAD) {
        const struct yarn_profile_thread *thread = &profile->threads[row->key];
        const struct yarn_profile_dump *dump = &profile->dumps[thread->dump];
        (void)snprintf(ret_text, size, "%u of %s %u", thread->tid,
                       yarn_profile_text(profile, dump->comm), dump->process.pid);
    } else if (report->rows.by == YARN_BY_PROCESS) {
        (void)snprintf(ret_text, size, "%u", profile->dumps[row->key].process.pid);
    }
}

void yarn_report_name(const struct yarn_profile_report *report, const struct yarn_row *row,
                      char *ret_text, size_t size)
{
    if (report->rows.by == YARN_BY_CPU)
        (void)snprintf(ret_text, size, "cpu %u", row->key);
    else
        (void)snprintf(ret_text, size, "%s%s", yarn_row_name(report->profile, report->rows.by, row),
                       report->rows.by == YARN_BY_FUNCTION
                           ? yarn_report_inlined_of(report->profile, row->key)
                           : "");
}

struct widths {
    size_t name, detail; /* 0: as long as it is */
};

enum { NAME_SIZE = 16384 };

const char *yarn_report_title(enum yarn_by by)
{
    static const char *const titles[YARN_BY_COUNT] = {
        [YARN_BY_FUNCTION] = "FUNCTION", [YARN_BY_LINE] = "LINE",       [YARN_BY_MODULE] = "MODULE",
        [YARN_BY_THREAD] = "THREAD",     [YARN_BY_PROCESS] = "PROCESS", [YARN_BY_CPU] = "CPU",
        [YARN_BY_EVENT] = "EVENT",       [YARN_BY_ADDRESS] = "ADDRESS", [YARN_BY_FIELD] = "VALUE",
    };
    return titles[by];
}

static struct widths fit(const struct yarn_profile_report *report, const struct yarn_out *out,
                         const struct yarn_row *rows, size_t count)
{
    static char text[NAME_SIZE];
    struct widths widths = {.name = strlen(yarn_report_title(report->rows.by))};
    for (size_t i = 0; i < count; i++) {
        yarn_report_name(report, &rows[i], text, sizeof text);
        widths.name = yarn_size_max(widths.name, yarn_text_columns(text));
        yarn_report_detail(report, &rows[i], text, sizeof text);
        widths.detail = yarn_size_max(widths.detail, yarn_text_columns(text));
    }
    if (!out->columns)
        return widths.name > 100 ? (struct widths){100, 0} : widths;
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
    return report->rows.by > YARN_BY_MODULE && !yarn_filter_is_by_function(report->filter);
}

static void print_numbers(const struct yarn_profile_report *report, const struct yarn_out *out,
                          const struct yarn_row *row)
{
    const struct yarn_profile_event *event = &report->profile->events[row->event];
    const char *unit = yarn_profile_text(report->profile, event->unit);
    print_percent(out, yarn_percent(row->self, event->total));
    if (yarn_report_is_one_share(report)) {
        (void)fprintf(out->file, "  %10s", yarn_number_grouped(row->samples).text);
    } else {
        (void)fputs("  ", out->file);
        print_percent(out, yarn_percent(row->total, event->total));
    }
    (void)fprintf(out->file, "  %10s  ", yarn_number_in_unit(row->self, unit).text);
}

static void print_row(const struct yarn_profile_report *report, const struct yarn_out *out,
                      const struct yarn_row *row, struct widths widths)
{
    static char text[NAME_SIZE];
    print_numbers(report, out, row);
    yarn_report_name(report, row, text, sizeof text);
    /* Where the output is no terminal a long name moves the rest of its line only. */
    if (out->columns || yarn_text_columns(text) <= widths.name)
        yarn_print_cell(out, text, widths.name);
    else
        yarn_print_cell(out, text, 0);
    yarn_report_detail(report, row, text, sizeof text);
    if (text[0]) {
        (void)fprintf(out->file, "  %s", yarn_out_paint(out, YARN_PAINT_FAINT));
        yarn_print_cut(out, text, out->columns ? widths.detail : 0);
        (void)fputs(yarn_out_plain(out), out->file);
    }
    (void)fputc('\n', out->file);
}

const char *yarn_report_detail_title(enum yarn_by by)
{
    static const char *const titles[YARN_BY_COUNT] = {
        [YARN_BY_FUNCTION] = "MODULE", [YARN_BY_LINE] = "FUNCTION", [YARN_BY_MODULE] = "PATH",
        [YARN_BY_THREAD] = "TID",      [YARN_BY_PROCESS] = "PID",
    };
    return titles[by] ? titles[by] : "";
}

static void print_titles(const struct yarn_profile_report *report, const struct yarn_out *out,
                         const struct yarn_row *rows, struct widths widths)
{
    enum yarn_by by = report->rows.by;
    const char *detail = yarn_report_detail_title(by);
    const char *unit =
        yarn_profile_text(report->profile, report->profile->events[rows[0].event].unit);
    const char *amount = strcmp(unit, "ns") == 0 ? "TIME" : "COUNT";
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    if (yarn_report_is_one_share(report))
        (void)fprintf(out->file, "%8s  %10s  %10s  ", "SHARE", "SAMPLES", amount);
    else
        (void)fprintf(out->file, "%8s  %8s  %10s  ", "SELF", "TOTAL", amount);
    (void)fprintf(out->file, "%-*s%s%s%s\n", detail[0] ? (int)widths.name : 0,
                  yarn_report_title(by), detail[0] ? "  " : "", detail, yarn_out_plain(out));
}

/* What the looks stand for, and what the switch records say of all waits. */
static void print_looks(const struct yarn_profile_report *report, const struct yarn_out *out,
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
        print_looks(report, out, event->total);
        return;
    }
    (void)fprintf(out->file, ": %s, %s%s%s", yarn_number_of_things(event->samples, "sample").text,
                  yarn_number_in_unit(event->total, unit).text, is_time ? "" : " ",
                  is_time ? "" : unit);
    double running = yarn_report_running_percent(report, number);
    if (running < YARN_REPORT_RUNNING_WHOLE)
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
    struct widths widths = fit(report, out, rows, shown);
    print_titles(report, out, rows, widths);
    for (size_t i = 0; i < shown; i++)
        print_row(report, out, &rows[i], widths);
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
            !yarn_filter_has_event(report->filter, profile, i))
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

int yarn_report_text(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    bool is_done = false;
    int err = 0;
    yarn_report_print_head(report, out);
    if (report->view != YARN_REPORT_ROWS) {
        yarn_report_print_tree(report, out);
        return 0;
    }
    if (report->is_side_by_side && report->rows.count)
        err = yarn_report_print_side(report, out, &is_done);
    if (!err && !is_done)
        print_rows(report, out);
    return err;
}
