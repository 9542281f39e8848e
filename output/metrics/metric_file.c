/* SPDX-License-Identifier: Apache-2.0 */
#include "output/metrics/metric_file.h"

#include "core/base/text.h"

struct reader {
    struct yarn_arena *arena;
    struct yarn_metric_file *file;
    struct yarn_metric_fault *fault;
    struct yarn_span rest; /* of the line */
};

static int fail_at(struct reader *reader, struct yarn_span word, const char *why)
{
    struct yarn_text text = yarn_text_of(reader->fault->text, sizeof reader->fault->text);
    yarn_text_add_sized(&text, (const char *)word.data, yarn_size_min(word.size, 60));
    yarn_text_add(&text, word.size ? ": " : "");
    yarn_text_add(&text, why);
    return -EINVAL;
}

static int fail(struct reader *reader, const char *why)
{
    return fail_at(reader, YARN_SPAN_EMPTY, why);
}

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct yarn_span trim(struct yarn_span text)
{
    while (text.size && is_blank(text.data[0]))
        text = yarn_span_from(text, 1);
    while (text.size && is_blank(text.data[text.size - 1]))
        text.size--;
    return text;
}

static bool is_name_byte(uint8_t c, bool is_first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!is_first && c >= '0' && c <= '9');
}

static struct yarn_span take_name(struct reader *reader)
{
    size_t size = 0;
    reader->rest = trim(reader->rest);
    while (size < reader->rest.size && is_name_byte(reader->rest.data[size], !size))
        size++;
    struct yarn_span name = yarn_span_sub(reader->rest, 0, size);
    reader->rest = trim(yarn_span_from(reader->rest, size));
    return name;
}

static bool take(struct reader *reader, char c)
{
    reader->rest = trim(reader->rest);
    if (!reader->rest.size || reader->rest.data[0] != (uint8_t)c)
        return false;
    reader->rest = trim(yarn_span_from(reader->rest, 1));
    return true;
}

static int keep(struct reader *reader, struct yarn_span text, const char **ret_text)
{
    *ret_text = yarn_arena_text(reader->arena, (const char *)text.data, text.size);
    return *ret_text ? 0 : -ENOMEM;
}

/* "TEXT" up to the end of the line. */
static int take_text(struct reader *reader, const char **ret_text)
{
    struct yarn_span rest = trim(reader->rest);
    if (rest.size < 2 || rest.data[0] != '"' || rest.data[rest.size - 1] != '"')
        return fail(reader, "a text in \"quotes\" is missing at the end");
    struct yarn_span inner = yarn_span_sub(rest, 1, rest.size - 2);
    if (inner.size && memchr(inner.data, '"', inner.size))
        return fail(reader, "a text has no quotes inside");
    return keep(reader, inner, ret_text);
}

static const char *const variables[YARN_METRIC_VARIABLE_COUNT] = {
    [YARN_METRIC_TIME] = "time",
    [YARN_METRIC_THREADS] = "threads",
    [YARN_METRIC_CPUS] = "cpus",
};

static int find_value(const void *self, struct yarn_span name)
{
    const struct yarn_metric_file *file = self;
    for (int i = 0; i < YARN_METRIC_VARIABLE_COUNT; i++)
        if (yarn_span_equal(name, yarn_span_of_text(variables[i])))
            return i;
    for (size_t i = 0; i < file->nr_names; i++)
        if (yarn_span_equal(name, yarn_span_of_text(file->names[i])))
            return YARN_METRIC_VARIABLE_COUNT + (int)i;
    return -ENOENT;
}

static int add_name(struct reader *reader)
{
    struct yarn_metric_file *file = reader->file;
    struct yarn_span name = take_name(reader);
    if (!name.size)
        return fail(reader, "the name of an event is missing: letters, digits and _");
    if (find_value(file, name) >= 0)
        return fail_at(reader, name, "this name is taken");
    if (file->nr_names == YARN_METRIC_NAMES_MAX)
        return fail(reader, "more than 64 events");
    return keep(reader, name, &file->names[file->nr_names++]);
}

static int read_title(struct reader *reader)
{
    if (reader->file->title)
        return fail(reader, "a second title");
    return take_text(reader, &reader->file->title);
}

static int read_event(struct reader *reader)
{
    struct yarn_metric_file *file = reader->file;
    struct yarn_metric_list list = {.first_name = file->nr_names, .line = reader->fault->line};
    int err;
    do {
        err = add_name(reader);
    } while (!err && take(reader, ','));
    if (err)
        return err;
    list.nr_names = file->nr_names - list.first_name;
    if (!take(reader, '='))
        return fail(reader, "= is missing behind the names of the events");
    if (!reader->rest.size)
        return fail(reader, "the list of events is missing behind =");
    if (file->nr_lists == YARN_METRIC_LISTS_MAX)
        return fail(reader, "more than 32 lists of events");
    err = keep(reader, trim(reader->rest), &list.text);
    file->lists[file->nr_lists++] = list;
    return err;
}

static struct yarn_span take_until(struct reader *reader, char stop, bool *ret_is_there)
{
    const uint8_t *end =
        reader->rest.size ? memchr(reader->rest.data, stop, reader->rest.size) : NULL;
    size_t size = end ? (size_t)(end - reader->rest.data) : reader->rest.size;
    struct yarn_span part = trim(yarn_span_sub(reader->rest, 0, size));
    reader->rest = yarn_span_from(reader->rest, end ? size + 1 : size);
    *ret_is_there = end;
    return part;
}

static int read_formula(struct reader *reader, struct yarn_metric *metric)
{
    bool has_unit, ends;
    const char *why;
    struct yarn_span word;
    struct yarn_span formula = take_until(reader, '[', &has_unit);
    if (!has_unit)
        return fail(reader, "the unit is missing behind the formula: [1], [GHz]");
    if (yarn_expression_parse(formula, find_value, reader->file, &metric->expression, &why, &word))
        return fail_at(reader, word, why);
    struct yarn_span unit = take_until(reader, ']', &ends);
    if (!ends || !unit.size)
        return fail(reader, "a unit is missing between [ and ]");
    return keep(reader, unit, &metric->unit);
}

static int read_metric(struct reader *reader)
{
    struct yarn_metric_file *file = reader->file;
    struct yarn_span name = take_name(reader);
    if (!name.size)
        return fail(reader, "the name of the metric is missing: letters, digits and _");
    for (size_t i = 0; i < file->nr_metrics; i++)
        if (yarn_span_equal(name, yarn_span_of_text(file->metrics[i].name)))
            return fail_at(reader, name, "there is a metric of this name");
    if (!take(reader, '='))
        return fail(reader, "= is missing behind the metric's name");
    if (file->nr_metrics == YARN_METRIC_METRICS_MAX)
        return fail(reader, "more than 64 metrics");
    struct yarn_metric *metric = &file->metrics[file->nr_metrics++];
    int err = keep(reader, name, &metric->name);
    if (!err)
        err = read_formula(reader, metric);
    return err ? err : take_text(reader, &metric->text);
}

static int read_line(struct reader *reader, struct yarn_span line)
{
    reader->rest = trim(line);
    if (!reader->rest.size || reader->rest.data[0] == '#')
        return 0;
    if (memchr(reader->rest.data, 0, reader->rest.size))
        return fail(reader, "a NUL in the file");
    struct yarn_span word = take_name(reader);
    if (yarn_span_equal(word, yarn_span_of_text("title")))
        return read_title(reader);
    if (yarn_span_equal(word, yarn_span_of_text("event")))
        return read_event(reader);
    if (yarn_span_equal(word, yarn_span_of_text("metric")))
        return read_metric(reader);
    return fail_at(reader, word, "a line begins with title, event, metric or #");
}

int yarn_metric_file_parse(struct yarn_span text, struct yarn_arena *arena,
                           struct yarn_metric_file *ret_file, struct yarn_metric_fault *ret_fault)
{
    struct reader reader = {.arena = arena, .file = ret_file, .fault = ret_fault};
    *ret_file = (struct yarn_metric_file){.title = NULL};
    *ret_fault = (struct yarn_metric_fault){.line = 0};
    while (text.size) {
        const uint8_t *end = memchr(text.data, '\n', text.size);
        size_t size = end ? (size_t)(end - text.data) : text.size;
        ret_fault->line++;
        int err = read_line(&reader, yarn_span_sub(text, 0, size));
        if (err)
            return err;
        text = yarn_span_from(text, size + !!end);
    }
    ret_fault->line += !ret_fault->line;
    if (!ret_file->nr_metrics)
        return fail(&reader, "the file has no metric");
    return 0;
}
