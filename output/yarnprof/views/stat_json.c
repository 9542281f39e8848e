/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "output/text/json.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/stat.h"

static const struct yarn_stat_row *row_of(const struct yarn_show_cell *cell)
{
    return cell->row;
}

/* Whose count it is: its name or a number, unless it is that of all. */
static void get_of_thread(struct yarn_show_cell *cell)
{
    const char *member = (const char *)cell->row + cell->column->member;
    if (!row_of(cell)->thread)
        cell->kind = YARN_SHOW_MISSING;
    else if (cell->column->member_kind == YARN_SHOW_TEXT)
        yarn_show_text(cell, row_of(cell)->thread);
    else
        yarn_show_u64(cell, *(const uint32_t *)(const void *)member);
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

/* Of an interval, its end. */
static void get_time(struct yarn_show_cell *cell)
{
    yarn_show_real(cell, *(const double *)cell->self);
}

static void get_value(struct yarn_show_cell *cell)
{
    const struct yarn_stat_metric *metric = cell->row;
    if (!metric->why)
        yarn_show_real(cell, metric->value);
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
    YARN_SHOW_COLUMN("group", NULL, METRIC(group), JSON_ONLY),
    YARN_SHOW_COLUMN("text", NULL, METRIC(text), JSON_ONLY),
    {0},
};

/* An interval's rows have its time, those of the totals (NAN) none. */
static void put_stat(const struct yarn_out *out, struct yarn_json *json,
                     const struct yarn_stat *stat, double at_seconds)
{
    struct yarn_show_table table = {
        .out = out, .json = json, .self = &at_seconds, .parts = {events}};
    if (json)
        yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < stat->nr_rows; i++)
        yarn_show_row(&table, &stat->rows[i]);
    yarn_show_end(&table);
    if (json)
        yarn_json_begin_array(json, "metrics");
    table.parts[0] = metrics;
    for (size_t i = 0; i < stat->nr_metrics; i++)
        yarn_show_row(&table, &stat->metrics[i]);
    yarn_show_end(&table);
}

int yarn_stat_put_json(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                       const struct yarn_stat *intervals, size_t nr_intervals)
{
    struct yarn_json *json = yarn_json_new(out->file);
    if (!json)
        return -ENOMEM;
    yarn_json_begin_object(json, NULL);
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
            put_stat(out, json, &intervals[i], intervals[i].at_seconds);
            yarn_json_end_object(json);
        }
        yarn_json_end_array(json);
    }
    put_stat(out, json, &totals->stat, NAN);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return 0;
}

void yarn_stat_put_csv(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                       const struct yarn_stat *intervals, size_t nr_intervals)
{
    yarn_show_head(&(struct yarn_show_table){.out = out, .parts = {events}});
    for (size_t i = 0; i < nr_intervals; i++)
        put_stat(out, NULL, &intervals[i], intervals[i].at_seconds);
    put_stat(out, NULL, &totals->stat, NAN);
}
