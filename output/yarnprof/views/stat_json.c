/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "output/text/json.h"
#include "output/yarnprof/stream/csv.h"
#include "output/yarnprof/views/stat.h"

static void put_real(struct yarn_json *json, const char *key, double value)
{
    if (isnan(value))
        yarn_json_null(json, key);
    else
        yarn_json_real(json, key, value);
}

/* Whole where nothing was made of the count. */
static void put_scaled(struct yarn_json *json, const struct yarn_stat_row *row)
{
    bool is_count = row->scale == 1 && !yarn_stat_was_shared(row) && row->plus_minus < 0;
    if (is_count && !isnan(row->value))
        yarn_json_u64(json, "scaled", row->count);
    else
        put_real(json, "scaled", row->value);
}

static void put_row(struct yarn_json *json, const struct yarn_stat_row *row)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", row->name);
    if (row->thread) {
        yarn_json_text(json, "thread", row->thread);
        yarn_json_u64(json, "pid", row->pid);
        yarn_json_u64(json, "tid", row->tid);
    }
    if (row->is_refused)
        yarn_json_null(json, "count");
    else
        yarn_json_u64(json, "count", row->count);
    put_scaled(json, row);
    put_real(json, "percent_running", row->is_refused ? NAN : yarn_stat_percent(row));
    yarn_json_text(json, "unit", row->unit);
    if (row->why)
        yarn_json_text(json, "why", row->why);
    else
        yarn_json_null(json, "why");
    yarn_json_bool(json, "user_only", row->is_user_only);
    if (row->plus_minus >= 0)
        yarn_json_real(json, "plus_minus", row->plus_minus);
    yarn_json_end_object(json);
}

static void put_metric(struct yarn_json *json, const struct yarn_stat_metric *metric)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", metric->name);
    put_real(json, "value", metric->why ? NAN : metric->value);
    yarn_json_text(json, "unit", metric->unit);
    if (metric->why)
        yarn_json_text(json, "why", metric->why);
    else
        yarn_json_null(json, "why");
    yarn_json_text(json, "group", metric->group);
    yarn_json_text(json, "text", metric->text);
    yarn_json_end_object(json);
}

static void put_stat(struct yarn_json *json, const struct yarn_stat *stat)
{
    yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < stat->nr_rows; i++)
        put_row(json, &stat->rows[i]);
    yarn_json_end_array(json);
    yarn_json_begin_array(json, "metrics");
    for (size_t i = 0; i < stat->nr_metrics; i++)
        put_metric(json, &stat->metrics[i]);
    yarn_json_end_array(json);
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
            put_stat(json, &intervals[i]);
            yarn_json_end_object(json);
        }
        yarn_json_end_array(json);
    }
    put_stat(json, &totals->stat);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return 0;
}

/* ---- the same as lines; an interval's have its time, those of the totals none ---- */

static void put_csv_real(struct yarn_csv *csv, double value)
{
    if (isnan(value))
        yarn_csv_text(csv, "");
    else
        yarn_csv_real(csv, value);
}

static void put_csv_stat(struct yarn_csv *csv, const struct yarn_stat *stat, double at_seconds)
{
    for (size_t i = 0; i < stat->nr_rows; i++) {
        const struct yarn_stat_row *row = &stat->rows[i];
        yarn_csv_text(csv, row->name);
        if (row->is_refused)
            yarn_csv_text(csv, "");
        else
            yarn_csv_u64(csv, row->count);
        put_csv_real(csv, row->value);
        put_csv_real(csv, row->is_refused ? NAN : yarn_stat_percent(row));
        yarn_csv_text(csv, row->unit);
        yarn_csv_text(csv, row->why ? row->why : "");
        put_csv_real(csv, row->plus_minus < 0 ? NAN : row->plus_minus);
        put_csv_real(csv, at_seconds);
        yarn_csv_text(csv, row->thread ? row->thread : "");
        if (row->thread)
            yarn_csv_u64(csv, row->tid);
        else
            yarn_csv_text(csv, "");
        yarn_csv_end_line(csv);
    }
    for (size_t i = 0; i < stat->nr_metrics; i++) {
        const struct yarn_stat_metric *metric = &stat->metrics[i];
        yarn_csv_text(csv, metric->name);
        yarn_csv_text(csv, "");
        put_csv_real(csv, metric->why ? NAN : metric->value);
        yarn_csv_text(csv, "");
        yarn_csv_text(csv, metric->unit);
        yarn_csv_text(csv, metric->why ? metric->why : "");
        yarn_csv_text(csv, "");
        put_csv_real(csv, at_seconds);
        yarn_csv_text(csv, "");
        yarn_csv_text(csv, "");
        yarn_csv_end_line(csv);
    }
}

void yarn_stat_put_csv(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                       const struct yarn_stat *intervals, size_t nr_intervals)
{
    static const char *const heads[] = {"name", "count",      "scaled", "percent_running", "unit",
                                        "why",  "plus_minus", "time_s", "thread",          "tid"};
    struct yarn_csv csv = {.file = out->file};
    for (size_t i = 0; i < YARN_COUNT_OF(heads); i++)
        yarn_csv_text(&csv, heads[i]);
    yarn_csv_end_line(&csv);
    for (size_t i = 0; i < nr_intervals; i++)
        put_csv_stat(&csv, &intervals[i], intervals[i].at_seconds);
    put_csv_stat(&csv, &totals->stat, NAN);
}
