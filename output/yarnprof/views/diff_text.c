/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "output/analysis/value/name.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/views/diff.h"

enum {
    FIXED_COLUMNS = 59, /* of the numbers and the gaps before the names */
    INTERVAL_COLUMNS = 25,
    NAME_LEAST = 12,
    NAME_MOST = 100,
    MODULE_LEAST = 4,
    MODULE_MOST = 28,
};

#define NOTHING_LEFT SIZE_MAX

static const struct yarn_change *change_of(const struct yarn_diff_view *view,
                                           const struct yarn_diff_row *row)
{
    return &row->changes[view->options->scale][view->options->part];
}

bool yarn_diff_is_shown(const struct yarn_diff_view *view, size_t row, size_t *nr_rows)
{
    const struct yarn_diff_row *rows = view->diff->rows;
    *nr_rows = row && rows[row - 1].event == rows[row].event ? *nr_rows + 1 : 1;
    return (!view->limit || *nr_rows <= view->limit) &&
           (view->has_noise || !change_of(view, &rows[row])->is_noise);
}

const char *yarn_diff_module(const struct yarn_diff_view *view, const struct yarn_diff_row *row,
                             bool is_path)
{
    const char *path = view->diff->match.functions[row->function].module;
    return is_path ? path : yarn_name_base(path);
}

static const char *name_of(const struct yarn_diff_view *view, const struct yarn_diff_row *row)
{
    return view->diff->match.functions[row->function].name;
}

struct widths {
    size_t name, module; /* 0: not limited; NOTHING_LEFT: the module is not shown */
};

/* Intervals take the place of names on a narrow terminal. */
static bool has_interval(const struct yarn_out *out)
{
    return !out->columns || (size_t)out->columns >= FIXED_COLUMNS + NAME_LEAST + MODULE_LEAST;
}

static struct widths fit(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    size_t nr_shown = 0;
    struct widths widths = {strlen("FUNCTION"), strlen("MODULE")};
    for (size_t i = 0; i < view->diff->count; i++) {
        const struct yarn_diff_row *row = &view->diff->rows[i];
        if (!yarn_diff_is_shown(view, i, &nr_shown))
            continue;
        widths.name = yarn_size_max(widths.name, yarn_text_columns(name_of(view, row)));
        widths.module =
            yarn_size_max(widths.module, yarn_text_columns(yarn_diff_module(view, row, false)));
    }
    if (!out->columns)
        return (struct widths){yarn_size_min(widths.name, NAME_MOST), 0};
    size_t columns = (size_t)out->columns;
    size_t fixed = FIXED_COLUMNS - (has_interval(out) ? 0 : INTERVAL_COLUMNS);
    size_t room = columns > fixed + NAME_LEAST ? columns - fixed : NAME_LEAST;
    size_t module = yarn_size_min(widths.module, MODULE_MOST);
    if (widths.name + 2 + module > room)
        widths.name = yarn_size_max(yarn_size_min(widths.name, NAME_LEAST),
                                    room > module + 2 ? room - module - 2 : 0);
    widths.module = room > widths.name + 2 + MODULE_LEAST ? room - widths.name - 2 : NOTHING_LEFT;
    return widths;
}

static const char *const scales[YARN_DIFF_SCALE_COUNT] = {
    [YARN_DIFF_SHARES] = "shares of the samples",
    [YARN_DIFF_SECONDS] = "a second",
    [YARN_DIFF_RUNS] = "a run",
    [YARN_DIFF_MARKS] = "a mark",
};

/* "12.34 %", or what was spent a run, second or mark. */
static void value_text(const struct yarn_diff_view *view, const struct yarn_diff_row *row,
                       double value, char *ret_text, size_t size)
{
    const char *unit = view->diff->events[row->event].unit;
    if (view->options->scale == YARN_DIFF_SHARES)
        (void)snprintf(ret_text, size, "%.2f %%", value);
    else
        (void)snprintf(ret_text, size, "%s",
                       yarn_number_in_unit((uint64_t)llround(value), unit).text);
}

static void signed_text(const struct yarn_diff_view *view, const struct yarn_diff_row *row,
                        double value, char *ret_text, size_t size)
{
    char text[48];
    if (view->options->scale == YARN_DIFF_SHARES)
        (void)snprintf(text, sizeof text, "%.2f", fabs(value));
    else
        value_text(view, row, fabs(value), text, sizeof text);
    (void)snprintf(ret_text, size, "%c%s", value < 0 ? '-' : '+', text);
}

static void print_change(const struct yarn_diff_view *view, const struct yarn_out *out,
                         const struct yarn_diff_row *row, const struct yarn_change *change)
{
    char text[56], low[56], high[56], interval[128] = "";
    enum yarn_paint paint = change->is_noise     ? YARN_PAINT_FAINT
                            : change->change > 0 ? YARN_PAINT_HOT
                                                 : YARN_PAINT_WARM;
    signed_text(view, row, change->change, text, sizeof text);
    signed_text(view, row, change->low, low, sizeof low);
    signed_text(view, row, change->high, high, sizeof high);
    if (has_interval(out))
        (void)snprintf(interval, sizeof interval, "  %9s … %-9s ", low, high);
    (void)fprintf(out->file, "  %s%10s%s%s%s", yarn_out_paint(out, paint), text, interval,
                  change->is_noise ? "≈" : " ", yarn_out_plain(out));
}

static void print_row(const struct yarn_diff_view *view, const struct yarn_out *out,
                      const struct yarn_diff_row *row, struct widths widths)
{
    const struct yarn_change *change = change_of(view, row);
    for (size_t side = 0; side < 2; side++) {
        char text[48];
        value_text(view, row, change->values[side], text, sizeof text);
        (void)fprintf(out->file, "%s%9s", side ? "  " : "", text);
    }
    print_change(view, out, row, change);
    (void)fputs("  ", out->file);
    if (out->columns || yarn_text_columns(name_of(view, row)) <= widths.name)
        yarn_print_cell(out, name_of(view, row), widths.name);
    else
        yarn_print_cut(out, name_of(view, row), 0);
    if (widths.module != NOTHING_LEFT) {
        (void)fprintf(out->file, "  %s", yarn_out_paint(out, YARN_PAINT_FAINT));
        yarn_print_cut(out, yarn_diff_module(view, row, false), widths.module);
        (void)fputs(yarn_out_plain(out), out->file);
    }
    (void)fputc('\n', out->file);
}

static void print_side(const struct yarn_diff_view *view, const struct yarn_out *out,
                       const struct yarn_diff_event *event, size_t side)
{
    const struct yarn_diff_sum *total = &event->totals[side];
    double ns = view->diff->bases[side].sums[YARN_DIFF_SECONDS] * 1e9;
    (void)fprintf(out->file, "  %-8s", side ? "after" : "before");
    (void)fprintf(out->file, "%s, %s in %s of ",
                  yarn_number_of_things(total->samples, "sample").text,
                  yarn_number_in_unit(total->weight, event->unit).text,
                  yarn_number_duration((uint64_t)ns).text);
    (void)fprintf(out->file, "%s, %s process%s: ",
                  yarn_number_of_things(view->diff->nr_runs[side], "run").text,
                  yarn_number_grouped(view->diff->nr_processes[side]).text,
                  view->diff->nr_processes[side] == 1 ? "" : "es");
    yarn_print_cut(out, view->paths[side], 0);
    (void)fputc('\n', out->file);
}

struct nr {
    size_t rows, changed;
};

static struct nr count_rows(const struct yarn_diff_view *view, uint32_t event)
{
    struct nr nr = {0};
    for (size_t i = 0; i < view->diff->count; i++) {
        const struct yarn_diff_row *row = &view->diff->rows[i];
        nr.rows += row->event == event;
        nr.changed += row->event == event && !change_of(view, row)->is_noise;
    }
    return nr;
}

/* So that nobody searches for changes among rows that have none. */
static void print_verdict(const struct yarn_out *out, struct nr nr)
{
    if (nr.changed)
        (void)fprintf(out->file, "%s of %s changed beyond noise.\n",
                      yarn_number_grouped(nr.changed).text,
                      yarn_number_of_things(nr.rows, "function").text);
    else
        (void)fputs("Nothing changed beyond noise.\n", out->file);
}

/* "total  1.02 s … 2.03 s a run: × 1.990 (1.950 … 2.030)". */
static void print_total(const struct yarn_diff_view *view, const struct yarn_out *out,
                        const struct yarn_diff_event *event)
{
    enum yarn_diff_scale scale = yarn_diff_scale_of_total(view->options->scale);
    const struct yarn_change *change = &event->changes[scale];
    double before = change->values[0];
    (void)fprintf(out->file, "  %-8s%s → ", "total",
                  yarn_number_in_unit((uint64_t)llround(before), event->unit).text);
    (void)fprintf(out->file, "%s %s",
                  yarn_number_in_unit((uint64_t)llround(change->values[1]), event->unit).text,
                  scales[scale]);
    if (before > 0)
        (void)fprintf(out->file, ": × %.3f", change->values[1] / before);
    if (!isnan(change->ratio_low))
        (void)fprintf(out->file, " (%.3f … %.3f)", change->ratio_low, change->ratio_high);
    (void)fputs(change->is_noise ? ", within noise\n" : "\n", out->file);
}

static void print_head(const struct yarn_diff_view *view, const struct yarn_out *out,
                       uint32_t number, struct nr nr, struct widths widths)
{
    const struct yarn_diff_event *event = &view->diff->events[number];
    const char *part = view->options->part == YARN_DIFF_SELF ? "Self" : "Total";
    (void)fputs(yarn_out_paint(out, YARN_PAINT_HEAD), out->file);
    yarn_print_cut(out, event->name, 0);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
    print_side(view, out, event, 0);
    print_side(view, out, event, 1);
    print_total(view, out, event);
    print_verdict(out, nr);
    (void)fprintf(out->file, "%s %s%s.\n", part, scales[view->options->scale],
                  view->has_noise ? "; ≈ is within noise" : "");
    (void)fprintf(out->file, "Intervals of 95 %%, by the %s.\n",
                  view->diff->is_by_runs ? "spread of the runs" : "samples of one run");
    if (!nr.changed && !view->has_noise)
        return;
    (void)fputc('\n', out->file);
    (void)fprintf(out->file, "%s%9s  %9s  %10s%s   ", yarn_out_paint(out, YARN_PAINT_FAINT),
                  "BEFORE", "AFTER", "CHANGE", has_interval(out) ? "              INTERVAL  " : "");
    yarn_print_cell(out, "FUNCTION", widths.name);
    (void)fprintf(out->file, "%s%s\n", widths.module == NOTHING_LEFT ? "" : "  MODULE",
                  yarn_out_plain(out));
}

/* What the limit has left out, and what is within noise. */
static void print_rest(const struct yarn_diff_view *view, const struct yarn_out *out, struct nr nr)
{
    size_t listed = view->has_noise ? nr.rows : nr.changed;
    if (view->limit && listed > view->limit)
        (void)fprintf(out->file, "… and %s; --limit=0 shows all\n",
                      yarn_number_of_things(listed - view->limit, "more row").text);
    if (listed < nr.rows)
        (void)fprintf(out->file, "%s%s within noise; --all shows %s%s\n",
                      yarn_out_paint(out, YARN_PAINT_FAINT),
                      yarn_number_of_things(nr.rows - listed, "function").text,
                      nr.rows - listed == 1 ? "it" : "them", yarn_out_plain(out));
}

/* "after   did not record it, so nothing is compared: FILE". */
static void print_missing(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    for (size_t i = 0; i < view->diff->nr_events; i++) {
        const struct yarn_diff_event *event = &view->diff->events[i];
        if (!yarn_diff_event_is_missing(event))
            continue;
        (void)fprintf(out->file, "%s%s", view->diff->count || i ? "\n" : "",
                      yarn_out_paint(out, YARN_PAINT_HEAD));
        yarn_print_cut(out, event->name, 0);
        (void)fprintf(out->file,
                      "%s\n  %-8sdid not record it, so nothing is compared: ", yarn_out_plain(out),
                      event->is_missing[0] ? "before" : "after");
        yarn_print_cut(out, view->paths[event->is_missing[0] ? 0 : 1], 0);
        (void)fputc('\n', out->file);
    }
}

void yarn_diff_text(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    const struct yarn_diff *diff = view->diff;
    struct widths widths = fit(view, out);
    size_t nr_of_event = 0;
    struct nr nr = {0};
    if (!diff->nr_events)
        (void)fputs("no samples to compare\n", out->file);
    for (size_t i = 0; i < diff->count; i++) {
        bool is_shown = yarn_diff_is_shown(view, i, &nr_of_event);
        if (nr_of_event == 1) {
            (void)fputs(i ? "\n" : "", out->file);
            nr = count_rows(view, diff->rows[i].event);
            print_head(view, out, diff->rows[i].event, nr, widths);
        }
        if (is_shown)
            print_row(view, out, &diff->rows[i], widths);
        if (nr_of_event == nr.rows)
            print_rest(view, out, nr);
    }
    print_missing(view, out);
    if (view->growth->text)
        yarn_diff_verdict_print(diff, view->growth, &view->verdict, out->file);
}
