/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "output/yarnprof/stream/columns.h"
#include "output/yarnprof/stream/numbers.h"
#include "output/yarnprof/views/stat.h"

enum { VALUE_COLUMNS = 18, NAME_COLUMNS = 24, RATE_COLUMNS = 22 };

static const double whole_max = 9e15; /* a double holds each whole number below */

static bool is_time(const struct yarn_stat_row *row)
{
    return strcmp(row->unit, "ns") == 0;
}

/* "18,004", "1.24 s", "3.42 Joules". */
static void make_value(const struct yarn_stat_row *row, double value, char *ret_text, size_t size)
{
    if (row->scale != 1 || value >= whole_max)
        (void)snprintf(ret_text, size, "%.2f %s", value, row->unit);
    else
        (void)snprintf(ret_text, size, "%s",
                       yarn_number_in_unit((uint64_t)llround(value), row->unit).text);
}

static void make_rate(const struct yarn_stat_row *row, double seconds, char *ret_text, size_t size)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    double rate = row->value / seconds;
    size_t prefix = 0;
    ret_text[0] = 0;
    if (!(seconds > 0) || isnan(row->value))
        return;
    if (is_time(row)) {
        (void)snprintf(ret_text, size, "%.3f CPUs used", rate / 1e9);
        return;
    }
    for (; rate >= 1000 && prefix + 1 < YARN_COUNT_OF(prefixes); prefix++)
        rate /= 1000;
    (void)snprintf(ret_text, size, "%.2f %s a second", rate, prefixes[prefix]);
    if (!prefix)
        (void)snprintf(ret_text, size, "%.2f a second", rate);
}

static void print_value(const struct yarn_out *out, const struct yarn_stat_row *row)
{
    char text[64];
    const char *cell = text;
    if (row->is_refused)
        cell = "refused";
    else if (isnan(row->value))
        cell = "never counted";
    else
        make_value(row, row->value, text, sizeof text);
    (void)fprintf(out->file, "%*s  ", VALUE_COLUMNS, cell);
}

static void print_notes(const struct yarn_out *out, const struct yarn_stat_row *row)
{
    double percent = yarn_stat_percent(row);
    if (row->plus_minus >= 0) {
        char text[64];
        make_value(row, row->plus_minus, text, sizeof text);
        (void)fprintf(out->file, "  ± %s (95 %%)", text);
    }
    if (yarn_stat_was_shared(row) && row->running_ns)
        (void)fprintf(out->file, "  %.*f %% of the time, scaled",
                      percent < 1 || percent > 99 ? 2 : 0, percent);
    if (row->is_user_only)
        (void)fputs("  user's part alone", out->file);
}

static void print_row(const struct yarn_out *out, const struct yarn_stat *stat,
                      const struct yarn_stat_row *row, size_t names)
{
    char rate[64];
    print_value(out, row);
    yarn_print_cell(out, row->name, names);
    if (row->thread) {
        (void)fputs("  ", out->file);
        yarn_print_cell(out, row->thread, 0);
        if (row->tid)
            (void)fprintf(out->file, " (%u)", (unsigned)row->tid);
    }
    if (row->why) {
        (void)fprintf(out->file, "  %s\n", row->why);
        return;
    }
    bool has_notes = row->plus_minus >= 0 || yarn_stat_was_shared(row) || row->is_user_only;
    make_rate(row, stat->seconds, rate, sizeof rate);
    (void)fprintf(out->file, "  %-*s", has_notes ? RATE_COLUMNS : 0, rate);
    print_notes(out, row);
    (void)fputc('\n', out->file);
}

static void print_metric(const struct yarn_out *out, const struct yarn_stat_metric *metric,
                         size_t names)
{
    if (metric->why) {
        (void)fprintf(out->file, "%*s  ", VALUE_COLUMNS, "unknown");
        yarn_print_cell(out, metric->name, names);
        (void)fprintf(out->file, "  %s\n", metric->why);
        return;
    }
    const char *unit = strcmp(metric->unit, "1") == 0 ? "" : metric->unit;
    char value[64];
    (void)snprintf(value, sizeof value, "%.4g%s%s", metric->value, unit[0] ? " " : "", unit);
    (void)fprintf(out->file, "%*s  ", VALUE_COLUMNS, value);
    yarn_print_cell(out, metric->name, names);
    (void)fputs("  ", out->file);
    yarn_print_cell(out, metric->text, 0);
    (void)fputc('\n', out->file);
}

static void print_all(const struct yarn_out *out, const struct yarn_stat *stat)
{
    size_t names = NAME_COLUMNS;
    for (size_t i = 0; i < stat->nr_rows; i++)
        names = yarn_size_max(names, yarn_text_columns(stat->rows[i].name));
    for (size_t i = 0; i < stat->nr_rows; i++)
        print_row(out, stat, &stat->rows[i], names);
    const char *group = NULL;
    for (size_t i = 0; i < stat->nr_metrics; i++) {
        const struct yarn_stat_metric *metric = &stat->metrics[i];
        if (!group || strcmp(group, metric->group) != 0) {
            group = metric->group;
            (void)fprintf(out->file, "\n%s", yarn_out_paint(out, YARN_PAINT_HEAD));
            yarn_print_cell(out, group, 0);
            (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
        }
        print_metric(out, metric, names);
    }
}

void yarn_stat_print_interval(const struct yarn_out *out, const struct yarn_stat *stat,
                              bool is_first)
{
    (void)fprintf(out->file, "%sat %.3f s\n", is_first ? "" : "\n", stat->at_seconds);
    print_all(out, stat);
    (void)fflush(out->file);
}

static void print_seconds(const struct yarn_out *out, double seconds, const char *what)
{
    (void)fprintf(out->file, "%*.6f s %s", VALUE_COLUMNS - 2, seconds, what);
}

static void print_times(const struct yarn_out *out, const struct yarn_stat_totals *totals)
{
    (void)fputc('\n', out->file);
    print_seconds(out, totals->stat.seconds, "wall");
    if (totals->plus_minus_seconds >= 0)
        (void)fprintf(out->file, "  ± %.6f s (95 %%)", totals->plus_minus_seconds);
    (void)fputc('\n', out->file);
    print_seconds(out, totals->user_seconds, "user\n");
    print_seconds(out, totals->system_seconds, "sys\n");
}

void yarn_stat_print(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                     const struct yarn_stat *intervals, size_t nr_intervals)
{
    for (size_t i = 0; i < nr_intervals; i++)
        yarn_stat_print_interval(out, &intervals[i], i == 0);
    (void)fprintf(out->file, "\n%s", yarn_out_paint(out, YARN_PAINT_HEAD));
    yarn_print_cell(out, totals->command ? totals->command : "all", 0);
    (void)fputs(yarn_out_plain(out), out->file);
    if (totals->nr_runs > 1)
        (void)fprintf(out->file, ": mean of %u runs", totals->nr_runs);
    (void)fputs("\n\n", out->file);
    print_all(out, &totals->stat);
    if (totals->command)
        print_times(out, totals);
}
