/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/json.h"
#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/diff.h"

static const char *const sides[] = {"before", "after"};

/* With [kernel]: what was spent a run, or a second or mark where that is asked for. */
static void put_total(const struct yarn_diff_view *view, struct yarn_json *json,
                      const struct yarn_diff_event *event)
{
    static const char *const keys[YARN_DIFF_SCALE_COUNT] = {
        [YARN_DIFF_SECONDS] = "per_second",
        [YARN_DIFF_RUNS] = "per_run",
        [YARN_DIFF_MARKS] = "per_mark",
    };
    enum yarn_diff_scale scale = yarn_diff_scale_of_total(view->options->scale);
    const struct yarn_change *change = &event->changes[scale];
    yarn_json_begin_object(json, keys[scale]);
    yarn_json_real(json, "before", change->values[0]);
    yarn_json_real(json, "after", change->values[1]);
    yarn_json_real(json, "change", change->change);
    yarn_json_real(json, "low", change->low);
    yarn_json_real(json, "high", change->high);
    yarn_json_bool(json, "within_noise", change->is_noise);
    yarn_json_end_object(json);
}

static void put_event(const struct yarn_diff_view *view, struct yarn_json *json,
                      const struct yarn_diff_event *event)
{
    yarn_json_begin_object(json, NULL);
    yarn_json_text(json, "name", event->name);
    yarn_json_text(json, "unit", event->unit);
    for (size_t side = 0; side < 2; side++) {
        yarn_json_begin_object(json, sides[side]);
        yarn_json_bool(json, "recorded", !event->is_missing[side]);
        yarn_json_u64(json, "total", event->totals[side].weight);
        yarn_json_u64(json, "samples", event->totals[side].samples);
        yarn_json_real(json, "seconds", view->diff->bases[side].sums[YARN_DIFF_SECONDS]);
        yarn_json_u64(json, "runs", view->diff->nr_runs[side]);
        yarn_json_u64(json, "processes", view->diff->nr_processes[side]);
        yarn_json_end_object(json);
    }
    if (!yarn_diff_event_is_missing(event))
        put_total(view, json, event);
    yarn_json_end_object(json);
}

static const struct yarn_diff_row *row_of(const struct yarn_show_cell *cell)
{
    return cell->row;
}

static const struct yarn_diff_view *view_of(const struct yarn_show_cell *cell)
{
    return cell->self;
}

static void get_event(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, view_of(cell)->diff->events[row_of(cell)->event].name);
}

static void get_function(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, view_of(cell)->diff->match.functions[row_of(cell)->function].name);
}

static void get_module(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, yarn_diff_module(view_of(cell), row_of(cell), cell->column->nth));
}

/* A member of the sum of a part and side, or of the change of a part and scale. */
#define OF(type, name, part, number)                                                               \
    .nth = (part) + YARN_DIFF_PART_COUNT * (number), .member = offsetof(struct type, name)

static void get_sum(struct yarn_show_cell *cell)
{
    size_t nth = cell->column->nth;
    const void *sum = &row_of(cell)->sums[nth % YARN_DIFF_PART_COUNT][nth / YARN_DIFF_PART_COUNT];
    yarn_show_u64(cell, *(const uint64_t *)((const char *)sum + cell->column->member));
}

static const struct yarn_change *change_of(const struct yarn_show_cell *cell)
{
    size_t nth = cell->column->nth;
    return &row_of(cell)->changes[nth / YARN_DIFF_PART_COUNT][nth % YARN_DIFF_PART_COUNT];
}

static void get_change(struct yarn_show_cell *cell)
{
    const void *change = change_of(cell);
    yarn_show_real(cell, *(const double *)((const char *)change + cell->column->member));
}

static void get_noise(struct yarn_show_cell *cell)
{
    yarn_show_bool(cell, change_of(cell)->is_noise);
}

/* By the scale that is shown. */
static void get_shown_noise(struct yarn_show_cell *cell)
{
    enum yarn_diff_scale scale = view_of(cell)->options->scale;
    yarn_show_bool(cell, row_of(cell)->changes[scale][cell->column->nth].is_noise);
}

#define IN(part, object) .within = part "." object
#define CSV_ONLY .flags = YARN_SHOW_NOT_JSON
#define JSON_ONLY .flags = YARN_SHOW_NOT_CSV
#define SUM(key, number, name, side, ...)                                                          \
    YARN_SHOW_COLUMN(key, NULL, .get = get_sum, OF(yarn_diff_sum, name, number, side), __VA_ARGS__)
#define CHANGE(part, number, scale, scale_number, key, name)                                       \
    YARN_SHOW_COLUMN(key, NULL, .get = get_change, OF(yarn_change, name, number, scale_number),    \
                     IN(part, scale), .csv = part "_" scale "_" key)
#define NOISE(key, number, scale_number, ...)                                                      \
    YARN_SHOW_COLUMN(key, NULL, .get = get_noise,                                                  \
                     .nth = (number) + YARN_DIFF_PART_COUNT * (scale_number), __VA_ARGS__)
#define SCALE(part, number, scale, scale_number)                                                   \
    CHANGE(part, number, scale, scale_number, "before", values[0]),                                \
        CHANGE(part, number, scale, scale_number, "after", values[1]),                             \
        CHANGE(part, number, scale, scale_number, "change", change),                               \
        CHANGE(part, number, scale, scale_number, "low", low),                                     \
        CHANGE(part, number, scale, scale_number, "high", high),                                   \
        NOISE("within_noise", number, scale_number, IN(part, scale), JSON_ONLY)
/* What stands in another place in CSV than in JSON is there twice. */
#define PART(part, number)                                                                         \
    SUM("weight", number, weight, 0, IN(part, "before"), .csv = part "_before"),                   \
        SUM("samples", number, samples, 0, IN(part, "before"), JSON_ONLY),                         \
        SUM("weight", number, weight, 1, IN(part, "after"), .csv = part "_after"),                 \
        SUM(part "_samples_before", number, samples, 0, CSV_ONLY),                                 \
        SUM("samples", number, samples, 1, IN(part, "after"), .csv = part "_samples_after"),       \
        SCALE(part, number, "percent", YARN_DIFF_SHARES),                                          \
        SCALE(part, number, "per_second", YARN_DIFF_SECONDS),                                      \
        SCALE(part, number, "per_run", YARN_DIFF_RUNS),                                            \
        SCALE(part, number, "per_mark", YARN_DIFF_MARKS),                                          \
        YARN_SHOW_COLUMN(part "_within_noise", NULL, .get = get_shown_noise, .nth = number,        \
                         CSV_ONLY)

static const struct yarn_show_column columns[] = {
    YARN_SHOW_COLUMN("event", NULL, .get = get_event),
    YARN_SHOW_COLUMN("function", NULL, .get = get_function),
    YARN_SHOW_COLUMN("module", NULL, .get = get_module, .nth = false),
    YARN_SHOW_COLUMN("module_path", NULL, .get = get_module, .nth = true, JSON_ONLY),
    PART("self", YARN_DIFF_SELF),
    PART("total", YARN_DIFF_TOTAL),
    YARN_SHOW_COLUMN("module_path", NULL, .get = get_module, .nth = true, CSV_ONLY),
    NOISE("self_percent_within_noise", YARN_DIFF_SELF, YARN_DIFF_SHARES, CSV_ONLY),
    NOISE("self_per_second_within_noise", YARN_DIFF_SELF, YARN_DIFF_SECONDS, CSV_ONLY),
    NOISE("self_per_run_within_noise", YARN_DIFF_SELF, YARN_DIFF_RUNS, CSV_ONLY),
    NOISE("self_per_mark_within_noise", YARN_DIFF_SELF, YARN_DIFF_MARKS, CSV_ONLY),
    NOISE("total_percent_within_noise", YARN_DIFF_TOTAL, YARN_DIFF_SHARES, CSV_ONLY),
    NOISE("total_per_second_within_noise", YARN_DIFF_TOTAL, YARN_DIFF_SECONDS, CSV_ONLY),
    NOISE("total_per_run_within_noise", YARN_DIFF_TOTAL, YARN_DIFF_RUNS, CSV_ONLY),
    NOISE("total_per_mark_within_noise", YARN_DIFF_TOTAL, YARN_DIFF_MARKS, CSV_ONLY),
    {0},
};

void yarn_diff_rows(const struct yarn_diff_view *view, const struct yarn_out *out,
                    struct yarn_json *json)
{
    struct yarn_show_table table = {.out = out, .json = json, .self = view, .parts = {columns}};
    size_t nr_shown = 0;
    yarn_show_begin(&table, "rows");
    for (size_t i = 0; i < view->diff->count; i++)
        if (yarn_diff_is_shown(view, i, &nr_shown))
            yarn_show_row(&table, &view->diff->rows[i]);
    yarn_show_end(&table);
}

int yarn_diff_json(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    struct yarn_json *json = yarn_json_new(out->file);
    if (!json)
        return -ENOMEM;
    yarn_json_begin_object(json, NULL);
    yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < view->diff->nr_events; i++)
        put_event(view, json, &view->diff->events[i]);
    yarn_json_end_array(json);
    yarn_diff_rows(view, out, json);
    if (view->growth->text)
        yarn_diff_verdict_put(view->diff, view->growth, &view->verdict, json);
    yarn_json_end_object(json);
    yarn_json_free(json);
    return 0;
}
