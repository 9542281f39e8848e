/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/stat.h"

#include <math.h>

#include "output/fold/change.h"
#include "output/text/json.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"

double yarn_stat_percent(const struct yarn_stat_row *row)
{
    if (!row->enabled_ns)
        return 0;
    double percent = 100.0 * (double)row->running_ns / (double)row->enabled_ns;
    return percent > 100 ? 100 : percent;
}

void yarn_stat_scale(struct yarn_stat_row *row)
{
    row->value = NAN;
    if (row->is_refused || !row->running_ns)
        return;
    row->value = (double)row->count * row->scale;
    if (yarn_stat_was_shared(row))
        row->value *= (double)row->enabled_ns / (double)row->running_ns;
}

double yarn_stat_plus_minus(const double *values, size_t count)
{
    double sum = 0, squares = 0;
    if (count < 2)
        return -1;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    double freedom = (double)count - 1;
    return yarn_change_student(freedom) * sqrt(squares / freedom / (double)count);
}

enum { VALUE_COLUMNS = 18, NAME_COLUMNS = 24, RATE_COLUMNS = 22 };

static const double whole_max = 9e15; /* a double holds each whole number below */

/* The tables' own. */
struct shown {
    double at_seconds; /* of an interval, its end; else NAN */
    double seconds;    /* how long it is */
    size_t names;      /* columns */
};

static const struct yarn_stat_row *row_of(const struct yarn_show_cell *cell)
{
    return cell->row;
}

/* The thread of a count: its name or a number, unless it is that of all. */
static void get_of_thread(struct yarn_show_cell *cell)
{
    yarn_show_member(cell);
    if (!row_of(cell)->thread)
        cell->kind = YARN_SHOW_MISSING;
}

static void get_count(struct yarn_show_cell *cell)
{
    yarn_show_u64_if(cell, !row_of(cell)->is_refused, row_of(cell)->count);
}

/* Whole where nothing was made of the count. */
static void get_scaled(struct yarn_show_cell *cell)
{
    const struct yarn_stat_row *row = row_of(cell);
    bool is_count = row->scale == 1 && !yarn_stat_was_shared(row) && row->plus_minus < 0;
    if (is_count && !isnan(row->value))
        yarn_show_u64(cell, row->count);
    else
        yarn_show_real(cell, row->value);
}

static void get_percent(struct yarn_show_cell *cell)
{
    if (!row_of(cell)->is_refused)
        yarn_show_real(cell, yarn_stat_percent(row_of(cell)));
}

static void get_plus_minus(struct yarn_show_cell *cell)
{
    cell->kind = YARN_SHOW_MISSING;
    if (row_of(cell)->plus_minus >= 0)
        yarn_show_real(cell, row_of(cell)->plus_minus);
}

static void get_time(struct yarn_show_cell *cell)
{
    yarn_show_real(cell, ((const struct shown *)cell->self)->at_seconds);
}

static void get_status(struct yarn_show_cell *cell)
{
    char bytes[128];
    struct yarn_text text = yarn_text_of(bytes, sizeof bytes);
    yarn_event_status_describe(yarn_stat_status(row_of(cell)), &text);
    yarn_show_add(cell, "%s", bytes);
}

static void get_value(struct yarn_show_cell *cell)
{
    const struct yarn_stat_metric *metric = cell->row;
    if (!metric->why)
        yarn_show_real(cell, metric->value);
}

/* "18,004", "1.24 s", "3.42 Joules". */
static void add_value(struct yarn_show_cell *cell, double value)
{
    const struct yarn_stat_row *row = row_of(cell);
    if (row->scale != 1 || value >= whole_max)
        yarn_show_add(cell, "%.2f %s", value, row->unit);
    else
        yarn_show_add(cell, "%s", yarn_number_in_unit((uint64_t)llround(value), row->unit).text);
}

static void get_value_text(struct yarn_show_cell *cell)
{
    const struct yarn_stat_row *row = row_of(cell);
    if (row->is_refused || isnan(row->value))
        yarn_show_text(cell, row->is_refused ? "refused" : "never counted");
    else
        add_value(cell, row->value);
}

static void add_name(struct yarn_show_cell *cell, const char *name)
{
    size_t used = yarn_text_columns(name), names = ((const struct shown *)cell->self)->names;
    yarn_show_add(cell, "%s%*s", name, (int)(names > used ? names - used : 0), "");
}

static struct yarn_number rate_of(const struct yarn_stat_row *row, double seconds)
{
    struct yarn_number text = {.text = ""};
    static const char *const prefixes[] = {"", "k", "M", "G", "T"};
    double rate = row->value / seconds;
    size_t prefix = 0;
    if (!(seconds > 0) || isnan(row->value))
        return text;
    if (strcmp(row->unit, "ns") == 0) {
        (void)snprintf(text.text, sizeof text.text, "%.3f CPUs used", rate / 1e9);
        return text;
    }
    for (; rate >= 1000 && prefix + 1 < YARN_COUNT_OF(prefixes); prefix++)
        rate /= 1000;
    (void)snprintf(text.text, sizeof text.text, "%.2f %s%sa second", rate, prefixes[prefix],
                   prefix ? " " : "");
    return text;
}

/* The thread of a count, its rate a second, and how sure it is. */
static void get_about(struct yarn_show_cell *cell)
{
    const struct yarn_stat_row *row = row_of(cell);
    bool was_shared = yarn_stat_was_shared(row);
    bool has_notes = row->plus_minus >= 0 || yarn_stat_status(row);
    double percent = yarn_stat_percent(row);
    add_name(cell, row->name);
    if (row->thread)
        yarn_show_add(cell, "  %s", row->thread);
    if (row->thread && row->tid)
        yarn_show_add(cell, " (%u)", (unsigned)row->tid);
    if (row->why) {
        yarn_show_add(cell, "  %s", row->why);
        return;
    }
    yarn_show_add(cell, "  %-*s", has_notes ? RATE_COLUMNS : 0,
                  rate_of(row, ((const struct shown *)cell->self)->seconds).text);
    if (row->plus_minus >= 0) {
        yarn_show_add(cell, "  ± ");
        add_value(cell, row->plus_minus);
        yarn_show_add(cell, " (95 %%)");
    }
    if (was_shared && row->running_ns)
        yarn_show_add(cell, "  %.*f %% of the time, scaled", percent < 1 || percent > 99 ? 2 : 0,
                      percent);
    if (row->is_user_only)
        yarn_show_add(cell, "  user's part alone");
    if (row->nr_missed)
        yarn_show_add(cell, "  without %s child%s not recorded",
                      yarn_number_grouped(row->nr_missed).text,
                      row->nr_missed == 1 ? " that was" : "ren that were");
}

static void get_metric_text(struct yarn_show_cell *cell)
{
    const struct yarn_stat_metric *metric = cell->row;
    bool has_unit = strcmp(metric->unit, "1") != 0 && metric->unit[0];
    if (metric->why)
        yarn_show_text(cell, "unknown");
    else
        yarn_show_add(cell, "%.4g%s%s", metric->value, has_unit ? " " : "",
                      has_unit ? metric->unit : "");
}

static void get_metric_about(struct yarn_show_cell *cell)
{
    const struct yarn_stat_metric *metric = cell->row;
    add_name(cell, metric->name);
    yarn_show_add(cell, "  %s", metric->why ? metric->why : metric->text);
}

#define EVENT(name) YARN_SHOW_MEMBER(struct yarn_stat_row, name)
#define METRIC(name) YARN_SHOW_MEMBER(struct yarn_stat_metric, name)
#define CSV_ONLY .flags = YARN_SHOW_NOT_JSON
#define JSON_ONLY .flags = YARN_SHOW_NOT_CSV

/* CSV has both lists as one: its columns of the two are the same, and later ones stand behind. */
static const struct yarn_show_column events[] = {
    YARN_SHOW_COLUMN("name", NULL, EVENT(name)),
    YARN_SHOW_COLUMN("thread", NULL, .get = get_of_thread, EVENT(thread), JSON_ONLY),
    YARN_SHOW_COLUMN("pid", NULL, .get = get_of_thread, EVENT(pid), JSON_ONLY),
    YARN_SHOW_COLUMN("tid", NULL, .get = get_of_thread, EVENT(tid), JSON_ONLY),
    YARN_SHOW_COLUMN("count", NULL, .get = get_count),
    YARN_SHOW_COLUMN("scaled", NULL, .get = get_scaled),
    YARN_SHOW_COLUMN("percent_running", NULL, .get = get_percent),
    YARN_SHOW_COLUMN("unit", NULL, EVENT(unit)),
    YARN_SHOW_COLUMN("why", NULL, EVENT(why)),
    YARN_SHOW_COLUMN("user_only", NULL, EVENT(is_user_only), JSON_ONLY),
    YARN_SHOW_COLUMN("plus_minus", NULL, .get = get_plus_minus),
    YARN_SHOW_COLUMN("time_s", NULL, .get = get_time, CSV_ONLY),
    YARN_SHOW_COLUMN("thread", NULL, .get = get_of_thread, EVENT(thread), CSV_ONLY),
    YARN_SHOW_COLUMN("tid", NULL, .get = get_of_thread, EVENT(tid), CSV_ONLY),
    YARN_SHOW_COLUMN("pid", NULL, .get = get_of_thread, EVENT(pid), CSV_ONLY),
    YARN_SHOW_COLUMN("user_only", NULL, EVENT(is_user_only), CSV_ONLY),
    YARN_SHOW_COLUMN("status", NULL, .get = get_status),
    YARN_SHOW_COLUMN(NULL, "", .get = get_value_text, .width = VALUE_COLUMNS),
    YARN_SHOW_COLUMN(NULL, "", .get = get_about, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

static const struct yarn_show_column metrics[] = {
    YARN_SHOW_COLUMN("name", NULL, METRIC(name)),
    YARN_SHOW_COLUMN("count", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("value", NULL, .get = get_value, .csv = "scaled"),
    YARN_SHOW_COLUMN("percent_running", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("unit", NULL, METRIC(unit)),
    YARN_SHOW_COLUMN("why", NULL, METRIC(why)),
    YARN_SHOW_COLUMN("plus_minus", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("time_s", NULL, .get = get_time, CSV_ONLY),
    YARN_SHOW_COLUMN("thread", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("tid", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("pid", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("user_only", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("status", NULL, CSV_ONLY),
    YARN_SHOW_COLUMN("group", NULL, METRIC(group), JSON_ONLY),
    YARN_SHOW_COLUMN("text", NULL, METRIC(text), JSON_ONLY),
    YARN_SHOW_COLUMN(NULL, "", .get = get_metric_text, .width = VALUE_COLUMNS),
    YARN_SHOW_COLUMN(NULL, "", .get = get_metric_about, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

static void print_headline(const struct yarn_out *out, const char *text)
{
    (void)fprintf(out->file, "\n%s", yarn_out_paint(out, YARN_PAINT_HEAD));
    yarn_print_cell(out, text, 0);
    (void)fputs(yarn_out_plain(out), out->file);
}

/* An interval's rows have its time, those of the totals (NAN) none. */
static void put_stat(const struct yarn_out *out, const struct yarn_stat *stat, double at_seconds)
{
    struct shown shown = {at_seconds, stat->seconds, NAME_COLUMNS};
    struct yarn_show_table table = {.out = out, .self = &shown, .parts = {events}};
    const char *group = NULL;
    for (size_t i = 0; i < stat->nr_rows; i++)
        shown.names = yarn_size_max(shown.names, yarn_text_columns(stat->rows[i].name));
    if (out->json)
        yarn_json_begin_array(out->json, "events");
    for (size_t i = 0; i < stat->nr_rows; i++)
        yarn_show_row(&table, &stat->rows[i]);
    yarn_show_end(&table);
    if (out->json)
        yarn_json_begin_array(out->json, "metrics");
    table.parts[0] = metrics;
    for (size_t i = 0; i < stat->nr_metrics; i++) {
        const struct yarn_stat_metric *metric = &stat->metrics[i];
        if (out->format == YARN_OUT_TEXT && (!group || strcmp(group, metric->group) != 0)) {
            group = metric->group;
            print_headline(out, group);
            (void)fputc('\n', out->file);
        }
        yarn_show_row(&table, metric);
    }
    yarn_show_end(&table);
}

static void put_json(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                     const struct yarn_stat *intervals, size_t nr_intervals)
{
    struct yarn_json *json = out->json;
    if (totals->command) {
        yarn_json_text(json, "command", totals->command);
        yarn_json_i64(json, "status", totals->status);
        yarn_json_u64(json, "runs", totals->nr_runs);
        yarn_json_real(json, "wall_s", totals->stat.seconds);
        if (totals->plus_minus_seconds >= 0)
            yarn_json_real(json, "wall_plus_minus_s", totals->plus_minus_seconds);
        yarn_json_real(json, "user_s", totals->user_seconds);
        yarn_json_real(json, "system_s", totals->system_seconds);
    }
    if (nr_intervals) {
        yarn_json_begin_array(json, "intervals");
        for (size_t i = 0; i < nr_intervals; i++) {
            yarn_json_begin_object(json, NULL);
            yarn_json_real(json, "time_s", intervals[i].at_seconds);
            put_stat(out, &intervals[i], intervals[i].at_seconds);
            yarn_json_end_object(json);
        }
        yarn_json_end_array(json);
    }
    put_stat(out, &totals->stat, NAN);
}

static void put_csv(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                    const struct yarn_stat *intervals, size_t nr_intervals)
{
    yarn_show_head(&(struct yarn_show_table){.out = out, .parts = {events}});
    for (size_t i = 0; i < nr_intervals; i++)
        put_stat(out, &intervals[i], intervals[i].at_seconds);
    put_stat(out, &totals->stat, NAN);
}

void yarn_stat_print_interval(const struct yarn_out *out, const struct yarn_stat *stat,
                              bool is_first)
{
    (void)fprintf(out->file, "%sat %.3f s\n", is_first ? "" : "\n", stat->at_seconds);
    put_stat(out, stat, NAN);
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

static void print_text(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                       const struct yarn_stat *intervals, size_t nr_intervals)
{
    for (size_t i = 0; i < nr_intervals; i++)
        yarn_stat_print_interval(out, &intervals[i], i == 0);
    print_headline(out, totals->command ? totals->command : "all");
    if (totals->nr_runs > 1)
        (void)fprintf(out->file, ": mean of %u runs", totals->nr_runs);
    (void)fputs("\n\n", out->file);
    put_stat(out, &totals->stat, NAN);
    if (totals->command)
        print_times(out, totals);
}

void yarn_stat_show(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                    const struct yarn_stat *intervals, size_t nr_intervals)
{
    if (out->json)
        put_json(out, totals, intervals, nr_intervals);
    else if (out->format == YARN_OUT_CSV)
        put_csv(out, totals, intervals, nr_intervals);
    else
        print_text(out, totals, intervals, nr_intervals);
}
