/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "output/yarnprof/show/table.h"
#include "output/yarnprof/views/report.h"

/* Metrics of each function, of what the events of a group weigh in it itself. */

enum { NO_EVENT = -1 };

struct line {
    uint32_t function;
    uint64_t share; /* of the first event that there is */
};

struct table {
    const struct yarn_profile_report *report;
    int events[YARN_METRIC_NAMES_MAX]; /* of the profile; NO_EVENT */
    int clock;                         /* likewise */
    double *weights;    /* owned; of each function nr_names of the events, then the clock's */
    struct line *lines; /* owned; the most first */
    size_t nr_lines;
};

/* A modifier in the profile's name is no other event. */
static int find_event(const struct yarn_profile *profile, const char *name)
{
    size_t size = strlen(name);
    for (size_t i = 0; i < profile->nr_events; i++) {
        const char *text = yarn_profile_text(profile, profile->events[i].name);
        if (profile->events[i].samples && strncmp(text, name, size) == 0 &&
            (!text[size] || text[size] == ':'))
            return (int)i;
    }
    return NO_EVENT;
}

static int find_clock(const struct yarn_profile *profile)
{
    for (size_t i = 0; i < profile->nr_events; i++)
        if (profile->events[i].samples &&
            strcmp(yarn_profile_text(profile, profile->events[i].unit), "ns") == 0)
            return (int)i;
    return NO_EVENT;
}

static size_t width_of(const struct table *table)
{
    return table->report->metrics->nr_names + 1;
}

static int event_of_column(const struct table *table, size_t column)
{
    return column + 1 == width_of(table) ? table->clock : table->events[column];
}

static void add_row(struct table *table, const struct yarn_row *row)
{
    double *weights = table->weights + row->key * width_of(table);
    for (size_t i = 0; i < width_of(table); i++)
        if (event_of_column(table, i) == (int)row->event)
            weights[i] = (double)row->self;
}

static int compare(const void *a, const void *b)
{
    const struct line *one = a, *other = b;
    if (one->share != other->share)
        return one->share > other->share ? -1 : 1;
    return one->function < other->function ? -1 : one->function > other->function;
}

/* The clock where there is one: what takes long is asked about first. */
static int order_of(const struct table *table)
{
    if (table->clock != NO_EVENT)
        return table->clock;
    for (size_t i = 0; i < table->report->metrics->nr_names; i++)
        if (table->events[i] != NO_EVENT)
            return table->events[i];
    return NO_EVENT;
}

static int table_init(struct table *table, const struct yarn_profile_report *report)
{
    const struct yarn_profile *profile = report->profile;
    const struct yarn_rows *rows = &report->rows;
    *table = (struct table){.report = report, .clock = find_clock(profile)};
    for (size_t i = 0; i < report->metrics->nr_names; i++)
        table->events[i] = find_event(profile, report->metric_events[i]);
    table->weights = calloc((profile->nr_functions + 1) * width_of(table), sizeof *table->weights);
    table->lines = calloc(rows->count + 1, sizeof *table->lines);
    if (!table->weights || !table->lines)
        return -ENOMEM;
    int order = order_of(table);
    for (size_t i = 0; i < rows->count; i++) {
        const struct yarn_row *row = &rows->rows[i];
        add_row(table, row);
        if ((int)row->event == order && row->self)
            table->lines[table->nr_lines++] = (struct line){row->key, row->self};
    }
    qsort(table->lines, table->nr_lines, sizeof table->lines[0], compare);
    if (report->limit && report->limit < table->nr_lines)
        table->nr_lines = report->limit;
    return 0;
}

static void table_fini(struct table *table)
{
    free(table->weights);
    free(table->lines);
}

static double value_of(const struct table *table, const struct line *line, size_t metric)
{
    const struct yarn_metric_file *file = table->report->metrics;
    double values[YARN_METRIC_VARIABLE_COUNT + YARN_METRIC_NAMES_MAX];
    const double *weights = table->weights + line->function * width_of(table);
    values[YARN_METRIC_TIME] = table->clock == NO_EVENT ? NAN : weights[file->nr_names] / 1e9;
    values[YARN_METRIC_THREADS] = (double)table->report->profile->nr_threads;
    values[YARN_METRIC_CPUS] = NAN;
    for (size_t i = 0; i < file->nr_names; i++)
        values[YARN_METRIC_VARIABLE_COUNT + i] = table->events[i] == NO_EVENT ? NAN : weights[i];
    return yarn_expression_evaluate(&file->metrics[metric].expression, values);
}

static const char *name_of(const struct table *table, const struct line *line)
{
    const struct yarn_profile *profile = table->report->profile;
    return yarn_profile_text(profile, profile->functions[line->function].name);
}

static const char *module_of(const struct table *table, const struct line *line)
{
    const struct yarn_profile *profile = table->report->profile;
    uint32_t module = profile->functions[line->function].module;
    return yarn_profile_text(profile, profile->modules[module].base);
}

/* What the metrics need and the profile has not; NULL: nothing. */
static const char *missing_of(const struct table *table)
{
    for (size_t i = 0; i < table->report->metrics->nr_names; i++)
        if (table->events[i] == NO_EVENT)
            return table->report->metric_events[i];
    return NULL;
}

static void get_function(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, name_of(cell->self, cell->row));
}

static void get_module(struct yarn_show_cell *cell)
{
    yarn_show_text(cell, module_of(cell->self, cell->row));
}

static void get_value(struct yarn_show_cell *cell)
{
    yarn_show_real(cell, value_of(cell->self, cell->row, cell->column->nth));
}

static const struct yarn_show_column names[] = {
    YARN_SHOW_COLUMN("function", "FUNCTION", .get = get_function, .align = YARN_SHOW_TAIL,
                     .gap = 2),
    YARN_SHOW_COLUMN("module", "MODULE", .get = get_module, .align = YARN_SHOW_TAIL, .gap = 2),
    {0},
};

/* A column a metric; the caller's to free. NULL: no memory. */
static struct yarn_show_column *make_columns(const struct yarn_metric_file *file)
{
    struct yarn_show_column *columns = calloc(file->nr_metrics + 1, sizeof *columns);
    for (size_t i = 0; columns && i < file->nr_metrics; i++)
        columns[i] = (struct yarn_show_column){
            .key = file->metrics[i].name,
            .title = file->metrics[i].name,
            .get = get_value,
            .unit = YARN_SHOW_FACTOR,
            .gap = i ? 2 : 0,
            .width = 16,
            .within = "values",
            .nth = i,
        };
    return columns;
}

static void print_head(const struct table *table, const struct yarn_out *out)
{
    const struct yarn_metric_file *file = table->report->metrics;
    yarn_report_print_head(table->report, out);
    (void)fputs("\n", out->file);
    for (size_t i = 0; i < file->nr_metrics; i++) {
        const struct yarn_metric *metric = &file->metrics[i];
        (void)fprintf(out->file, "%s [%s]: %s\n", metric->name, metric->unit, metric->text);
    }
    if (missing_of(table))
        (void)fprintf(out->file, "%s was not sampled: metrics of it are not known\n",
                      missing_of(table));
    (void)fputs("\n", out->file);
}

static const struct yarn_show_column metrics[] = {
    YARN_SHOW_COLUMN("name", NULL, YARN_SHOW_MEMBER(struct yarn_metric, name)),
    YARN_SHOW_COLUMN("unit", NULL, YARN_SHOW_MEMBER(struct yarn_metric, unit)),
    YARN_SHOW_COLUMN("text", NULL, YARN_SHOW_MEMBER(struct yarn_metric, text)),
    {0},
};

static int print(const struct table *table, const struct yarn_out *out)
{
    const struct yarn_metric_file *file = table->report->metrics;
    bool is_text = out->format == YARN_OUT_TEXT;
    struct yarn_show_column *values = make_columns(file);
    struct yarn_show_table legend = {.out = out, .parts = {metrics}};
    struct yarn_show_table shown = {
        .out = out,
        .self = table,
        .parts = {is_text ? values : names, is_text ? names : values},
    };
    if (!values)
        return -ENOMEM;
    if (is_text)
        print_head(table, out);
    if (out->json) {
        yarn_show_rows(&legend, "metrics", file->metrics, file->nr_metrics, sizeof *file->metrics,
                       0);
        yarn_json_text_or_null(out->json, "missing", missing_of(table));
    }
    yarn_show_rows(&shown, "functions", table->lines, table->nr_lines, sizeof *table->lines, 0);
    free(values);
    return 0;
}

int yarn_report_metrics(const struct yarn_profile_report *report, const struct yarn_out *out)
{
    struct table table;
    int err = table_init(&table, report);
    if (!err)
        err = print(&table, out);
    table_fini(&table);
    return err;
}
