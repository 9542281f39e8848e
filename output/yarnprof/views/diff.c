/* SPDX-License-Identifier: Apache-2.0 */
#include "output/yarnprof/views/diff.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/text.h"
#include "output/analysis/value/name.h"
#include "output/text/json.h"
#include "output/yarnprof/io/columns.h"
#include "output/yarnprof/io/numbers.h"
#include "output/yarnprof/show/table.h"

int yarn_diff_limit_parse(struct yarn_diff_limit *limit, const char *text)
{
    char *end;
    *limit = (struct yarn_diff_limit){.text = text, .percent = strtod(text, &end)};
    if (end == text || !(limit->percent >= 0) || isinf(limit->percent))
        return -EINVAL;
    end += *end == '%';
    if (!*end)
        return 0;
    if (*end != ':' || !end[1] || regcomp(&limit->function, end + 1, REG_EXTENDED | REG_NOSUB))
        return -EINVAL;
    limit->has_function = true;
    return 0;
}

void yarn_diff_limit_fini(struct yarn_diff_limit *limit)
{
    if (limit->has_function)
        regfree(&limit->function);
    limit->has_function = false;
}

static double growth_of(const struct yarn_change *change)
{
    if (change->values[0] > 0)
        return 100 * change->change / change->values[0];
    return change->change > 0 ? INFINITY : 0;
}

/* The spread of a mean falls with the root of the number of runs. */
static size_t runs_that_tell(const struct yarn_diff *diff, double seen_percent, double percent)
{
    size_t now = yarn_size_max(1, yarn_size_min(diff->nr_runs[0], diff->nr_runs[1]));
    double times = seen_percent / percent;
    if (!(seen_percent > percent) || !(times < 1e4))
        return 0;
    return (size_t)ceil((double)now * times * times);
}

static void judge(const struct yarn_diff_limit *limit, const struct yarn_change *change,
                  uint32_t event, const struct yarn_diff_row *row,
                  struct yarn_diff_verdict *verdict)
{
    double percent = growth_of(change);
    if (change->is_noise || percent <= limit->percent ||
        (verdict->is_exceeded && percent <= verdict->percent))
        return;
    verdict->is_exceeded = true;
    verdict->event = event;
    verdict->row = row;
    verdict->percent = percent;
}

/* A growth of so many percent is within noise. */
static double reach_of(const struct yarn_change *change)
{
    return change->values[0] > 0 ? 50 * (change->high - change->low) / change->values[0] : 0;
}

/* How well the total is known that is known least. */
static void look_at_total(const struct yarn_diff *diff, const struct yarn_diff_limit *limit,
                          const struct yarn_change *change, struct yarn_diff_verdict *verdict)
{
    double percent = reach_of(change);
    if (percent <= verdict->seen_percent)
        return;
    verdict->seen_percent = percent;
    verdict->nr_runs = runs_that_tell(diff, percent, limit->percent);
}

/* How well the function is known that took most. Why not the one that is known least: of many that
 * match it is one of a few samples, which no number of runs would tell. */
static void look_at_row(const struct yarn_diff *diff, const struct yarn_diff_options *options,
                        const struct yarn_diff_limit *limit, const struct yarn_diff_row *row,
                        struct yarn_diff_verdict *verdict)
{
    const struct yarn_change *change = &row->changes[options->scale][options->part];
    const struct yarn_diff_row *before = verdict->greatest;
    if (before && before->changes[options->scale][options->part].values[0] >= change->values[0])
        return;
    verdict->greatest = row;
    verdict->seen_percent = reach_of(change);
    verdict->nr_runs = runs_that_tell(diff, verdict->seen_percent, limit->percent);
}

struct yarn_diff_verdict yarn_diff_judge(const struct yarn_diff *diff,
                                         const struct yarn_diff_options *options,
                                         const struct yarn_diff_limit *limit)
{
    struct yarn_diff_verdict verdict = {.row = NULL};
    enum yarn_diff_scale scale = yarn_diff_scale_of_total(options->scale);
    for (uint32_t i = 0; i < diff->nr_events; i++) {
        if (yarn_diff_event_is_missing(&diff->events[i]))
            continue;
        verdict.nr_judged++;
        if (limit->has_function)
            continue;
        judge(limit, &diff->events[i].changes[scale], i, NULL, &verdict);
        look_at_total(diff, limit, &diff->events[i].changes[scale], &verdict);
    }
    for (size_t i = 0; limit->has_function && i < diff->count; i++) {
        const struct yarn_diff_row *row = &diff->rows[i];
        if (regexec(&limit->function, diff->match.functions[row->function].name, 0, NULL, 0))
            continue;
        verdict.nr_matching++;
        judge(limit, &row->changes[options->scale][options->part], row->event, row, &verdict);
        look_at_row(diff, options, limit, row, &verdict);
    }
    return verdict;
}

void yarn_diff_verdict_print(const struct yarn_diff *diff, const struct yarn_diff_options *options,
                             const struct yarn_diff_limit *limit,
                             const struct yarn_diff_verdict *verdict, FILE *file)
{
    if (!verdict->nr_judged) {
        (void)fputs("nothing was judged: no event with samples was recorded on both sides\n", file);
        return;
    }
    if (limit->has_function && !verdict->nr_matching) {
        (void)fprintf(file, "passed: no function is called %s\n", strchr(limit->text, ':') + 1);
        return;
    }
    if (!verdict->is_exceeded) {
        (void)fprintf(file, "passed: %s by more than %g %% beyond noise",
                      !limit->has_function              ? "no total grew"
                      : options->part == YARN_DIFF_SELF ? "no such function grew in itself"
                                                        : "no such function grew with its callees",
                      limit->percent);
        if (verdict->nr_runs && verdict->greatest)
            (void)fprintf(file, "; %.1f %% of %s is within it: about %zu runs a side would tell",
                          verdict->seen_percent,
                          diff->match.functions[verdict->greatest->function].name,
                          verdict->nr_runs);
        else if (verdict->nr_runs)
            (void)fprintf(file, "; %.1f %% is within it: about %zu runs a side would tell",
                          verdict->seen_percent, verdict->nr_runs);
        (void)fputc('\n', file);
        return;
    }
    const char *what =
        verdict->row ? diff->match.functions[verdict->row->function].name : "the total";
    (void)fprintf(file, "failed: %s of %s ", what, diff->events[verdict->event].name);
    if (isinf(verdict->percent))
        (void)fputs("is new", file);
    else
        (void)fprintf(file, "grew by %.1f %%", verdict->percent);
    (void)fprintf(file, ", more than %g %%\n", limit->percent);
}

static void put_verdict(const struct yarn_diff *diff, const struct yarn_diff_limit *limit,
                        const struct yarn_diff_verdict *verdict, struct yarn_json *json)
{
    yarn_json_begin_object(json, "fail_on");
    yarn_json_text(json, "asked", limit->text);
    yarn_json_u64(json, "events", verdict->nr_judged);
    yarn_json_bool(json, "failed", verdict->is_exceeded);
    if (verdict->is_exceeded) {
        yarn_json_text(json, "event", diff->events[verdict->event].name);
        if (verdict->row)
            yarn_json_text(json, "function", diff->match.functions[verdict->row->function].name);
        else
            yarn_json_null(json, "function");
        if (isinf(verdict->percent))
            yarn_json_null(json, "percent");
        else
            yarn_json_real(json, "percent", verdict->percent);
    }
    if (limit->has_function)
        yarn_json_u64(json, "functions", verdict->nr_matching);
    yarn_json_real(json, "within_noise_percent", verdict->seen_percent);
    yarn_json_u64_if(json, "runs_that_would_tell", verdict->nr_runs, verdict->nr_runs);
    yarn_json_end_object(json);
}

enum {
    FIXED_COLUMNS = 59, /* of the numbers and the gaps before the names */
    INTERVAL_COLUMNS = 25,
    NAME_LEAST = 12,
    NAME_MOST = 100,
    MODULE_LEAST = 4,
    MODULE_MOST = 28,
    TITLE_BYTES = 512,
};

#define NOTHING_LEFT SIZE_MAX

static const struct yarn_change *shown_change(const struct yarn_diff_view *view,
                                              const struct yarn_diff_row *row)
{
    return &row->changes[view->options->scale][view->options->part];
}

static bool is_shown(const struct yarn_diff_view *view, size_t row, size_t *nr_rows)
{
    const struct yarn_diff_row *rows = view->diff->rows;
    *nr_rows = row && rows[row - 1].event == rows[row].event ? *nr_rows + 1 : 1;
    return (!view->limit || *nr_rows <= view->limit) &&
           (view->has_noise || !shown_change(view, &rows[row])->is_noise);
}

static const char *module_of(const struct yarn_diff_view *view, const struct yarn_diff_row *row,
                             bool is_path)
{
    const char *path = view->diff->match.functions[row->function].module;
    return is_path ? path : yarn_path_base(path);
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
        if (!is_shown(view, i, &nr_shown))
            continue;
        widths.name = yarn_size_max(widths.name, yarn_text_columns(name_of(view, row)));
        widths.module =
            yarn_size_max(widths.module, yarn_text_columns(module_of(view, row, false)));
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
    yarn_show_text(cell, module_of(view_of(cell), row_of(cell), cell->column->nth));
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

/* ---- text ---- */

static void get_value(struct yarn_show_cell *cell)
{
    char text[48];
    const struct yarn_change *change = shown_change(view_of(cell), row_of(cell));
    value_text(view_of(cell), row_of(cell), change->values[cell->column->nth], text, sizeof text);
    yarn_show_add(cell, "%s", text);
}

static void add_signed(struct yarn_show_cell *cell, int width, double value)
{
    char text[48], with_sign[56];
    if (view_of(cell)->options->scale == YARN_DIFF_SHARES)
        (void)snprintf(text, sizeof text, "%.2f", fabs(value));
    else
        value_text(view_of(cell), row_of(cell), fabs(value), text, sizeof text);
    (void)snprintf(with_sign, sizeof with_sign, "%c%s", value < 0 ? '-' : '+', text);
    yarn_show_add(cell, "%*s", width, with_sign);
}

/* With its interval where that fits. */
static void get_shown_change(struct yarn_show_cell *cell)
{
    const struct yarn_change *change = shown_change(view_of(cell), row_of(cell));
    add_signed(cell, 10, change->change);
    if (cell->column->nth) {
        add_signed(cell, 2 + 9, change->low);
        yarn_show_add(cell, " … ");
        add_signed(cell, -9, change->high);
        yarn_show_add(cell, " ");
    }
    yarn_show_add(cell, "%s", change->is_noise ? "≈" : " ");
    cell->paint = change->is_noise     ? YARN_PAINT_FAINT
                  : change->change > 0 ? YARN_PAINT_HOT
                                       : YARN_PAINT_WARM;
}

static void get_base(struct yarn_show_cell *cell)
{
    get_module(cell);
    cell->paint = YARN_PAINT_FAINT;
}

static void show_rows(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    struct yarn_show_table table = {.out = out, .self = view, .parts = {columns}};
    size_t nr_shown = 0;
    yarn_show_begin(&table, "rows");
    for (size_t i = 0; i < view->diff->count; i++)
        if (is_shown(view, i, &nr_shown))
            yarn_show_row(&table, &view->diff->rows[i]);
    yarn_show_end(&table);
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
        nr.changed += row->event == event && !shown_change(view, row)->is_noise;
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
                       const struct yarn_diff_event *event, struct nr nr,
                       const struct yarn_show_table *table)
{
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
                  view->diff->is_by_runs
                      ? "spread of the runs"
                      : "samples of one run, without what differs from run to run");
    if (!nr.changed && !view->has_noise)
        return;
    (void)fputc('\n', out->file);
    (void)fputs(yarn_out_paint(out, YARN_PAINT_FAINT), out->file);
    yarn_show_titles(table);
    (void)fprintf(out->file, "%s\n", yarn_out_plain(out));
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

static void print_rows(const struct yarn_diff_view *view, const struct yarn_out *out,
                       const struct yarn_show_table *table)
{
    const struct yarn_diff *diff = view->diff;
    size_t nr_of_event = 0;
    struct nr nr = {0};
    for (size_t i = 0; i < diff->count; i++) {
        const struct yarn_diff_row *row = &diff->rows[i];
        bool is_listed = is_shown(view, i, &nr_of_event);
        if (nr_of_event == 1) {
            (void)fputs(i ? "\n" : "", out->file);
            nr = count_rows(view, row->event);
            print_head(view, out, &diff->events[row->event], nr, table);
        }
        if (is_listed)
            yarn_show_row(table, row);
        if (nr_of_event == nr.rows)
            print_rest(view, out, nr);
    }
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

static void print_text(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    struct widths widths = fit(view, out);
    bool has_module = widths.module != NOTHING_LEFT;
    char last[TITLE_BYTES]; /* keeps its blanks where nothing follows */
    (void)snprintf(last, sizeof last, "%-*s", has_module ? 0 : (int)widths.name, "FUNCTION");
    const struct yarn_show_column texts[] = {
        YARN_SHOW_COLUMN(NULL, "BEFORE", .get = get_value, .width = 9),
        YARN_SHOW_COLUMN(NULL, "AFTER", .get = get_value, .nth = 1, .gap = 2, .width = 9),
        YARN_SHOW_COLUMN(
            NULL, has_interval(out) ? "    CHANGE              INTERVAL   " : "    CHANGE ",
            .get = get_shown_change, .nth = has_interval(out), .align = YARN_SHOW_TAIL, .gap = 2),
        YARN_SHOW_COLUMN(NULL, last, .get = get_function, .align = YARN_SHOW_NAME, .gap = 2,
                         .width = (unsigned)widths.name),
        YARN_SHOW_COLUMN(NULL, has_module ? "MODULE" : NULL, .get = get_base,
                         .align = YARN_SHOW_TAIL, .gap = 2, .width = (unsigned)widths.module),
        {0},
    };
    if (!view->diff->nr_events)
        (void)fputs("no samples to compare\n", out->file);
    print_rows(view, out, &(struct yarn_show_table){.out = out, .self = view, .parts = {texts}});
    print_missing(view, out);
    if (view->growth->text)
        yarn_diff_verdict_print(view->diff, view->options, view->growth, &view->verdict, out->file);
}

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

static void put_json(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    struct yarn_json *json = out->json;
    yarn_json_begin_array(json, "events");
    for (size_t i = 0; i < view->diff->nr_events; i++)
        put_event(view, json, &view->diff->events[i]);
    yarn_json_end_array(json);
    show_rows(view, out);
    if (view->growth->text)
        put_verdict(view->diff, view->growth, &view->verdict, json);
}

void yarn_diff_print(const struct yarn_diff_view *view, const struct yarn_out *out)
{
    if (out->json)
        put_json(view, out);
    else if (out->format == YARN_OUT_CSV)
        show_rows(view, out);
    else
        print_text(view, out);
}
