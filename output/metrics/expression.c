/* SPDX-License-Identifier: Apache-2.0 */
#include "output/metrics/expression.h"

#include <math.h>

enum { DEPTH_MAX = 32, DIGITS_MAX = 18 };

struct reader {
    struct yarn_span text;
    size_t at;
    unsigned depth;
    yarn_expression_find_fn *find;
    const void *self;
    struct yarn_expression *expression;
    const char *why;
    struct yarn_span word;
};

static char peek(struct reader *reader)
{
    while (reader->at < reader->text.size &&
           (reader->text.data[reader->at] == ' ' || reader->text.data[reader->at] == '\t'))
        reader->at++;
    return reader->at < reader->text.size ? (char)reader->text.data[reader->at] : 0;
}

static int fail(struct reader *reader, size_t size, const char *why)
{
    reader->why = why;
    reader->word = yarn_span_sub(reader->text, reader->at, size);
    return -EINVAL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static int add(struct reader *reader, char what, unsigned value, double number)
{
    struct yarn_expression *expression = reader->expression;
    if (expression->count == YARN_EXPRESSION_STEPS)
        return fail(reader, 0, "the formula is too long");
    expression->steps[expression->count].what = what;
    expression->steps[expression->count].value = value;
    expression->steps[expression->count++].number = number;
    return 0;
}

/* Why not strtod: it would go by the locale, and past the end. */
static int read_number(struct reader *reader)
{
    double number = 0, unit = 1;
    bool has_point = false;
    size_t size = 0, digits = 0;
    for (; reader->at + size < reader->text.size; size++) {
        char c = (char)reader->text.data[reader->at + size];
        if (c == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (!is_digit(c))
            break;
        number = number * 10 + (c - '0');
        unit *= has_point ? 10 : 1;
        digits++;
    }
    if (!digits || digits > DIGITS_MAX)
        return fail(reader, size, "not a number");
    reader->at += size;
    return add(reader, 'n', 0, number / unit);
}

static int read_name(struct reader *reader)
{
    size_t size = 0;
    while (reader->at + size < reader->text.size &&
           (is_letter((char)reader->text.data[reader->at + size]) ||
            is_digit((char)reader->text.data[reader->at + size])))
        size++;
    int value = reader->find(reader->self, yarn_span_sub(reader->text, reader->at, size));
    if (value < 0)
        return fail(reader, size, "no event of this file and none of time, threads and cpus");
    reader->at += size;
    return add(reader, 'v', (unsigned)value, 0);
}

static int read_sum(struct reader *reader);

static int read_operand(struct reader *reader)
{
    char c = peek(reader);
    if (is_digit(c) || c == '.')
        return read_number(reader);
    if (is_letter(c))
        return read_name(reader);
    if (c != '(' && c != '-')
        return fail(reader, c ? 1 : 0, "a number, a name or ( is missing here");
    if (++reader->depth > DEPTH_MAX)
        return fail(reader, 1, "the formula is nested too deeply");
    reader->at++;
    int err = c == '-' ? read_operand(reader) : read_sum(reader);
    reader->depth--;
    if (err || c == '-')
        return err ? err : add(reader, '~', 0, 0);
    if (peek(reader) != ')')
        return fail(reader, peek(reader) ? 1 : 0, "the closing ) is missing");
    reader->at++;
    return 0;
}

static int read_product(struct reader *reader)
{
    int err = read_operand(reader);
    for (char c; !err && ((c = peek(reader)) == '*' || c == '/');) {
        reader->at++;
        err = read_operand(reader);
        if (!err)
            err = add(reader, c, 0, 0);
    }
    return err;
}

static int read_sum(struct reader *reader)
{
    int err = read_product(reader);
    for (char c; !err && ((c = peek(reader)) == '+' || c == '-');) {
        reader->at++;
        err = read_product(reader);
        if (!err)
            err = add(reader, c, 0, 0);
    }
    return err;
}

int yarn_expression_parse(struct yarn_span text, yarn_expression_find_fn *find, const void *self,
                          struct yarn_expression *ret_expression, const char **ret_why,
                          struct yarn_span *ret_word)
{
    struct reader reader = {.text = text, .find = find, .self = self, .expression = ret_expression};
    ret_expression->count = 0;
    int err = read_sum(&reader);
    if (!err && peek(&reader))
        err = fail(&reader, 1, "an operator is missing before this");
    if (err) {
        *ret_why = reader.why;
        *ret_word = reader.word;
    }
    return err;
}

static double apply(char what, double left, double right)
{
    switch (what) {
    case '+':
        return left + right;
    case '-':
        return left - right;
    case '*':
        return left * right;
    default:
        return right != 0 ? left / right : NAN;
    }
}

double yarn_expression_evaluate(const struct yarn_expression *expression, const double *values)
{
    double stack[YARN_EXPRESSION_STEPS];
    size_t depth = 0;
    for (size_t i = 0; i < expression->count; i++) {
        char what = expression->steps[i].what;
        if (what == 'n') {
            stack[depth++] = expression->steps[i].number;
        } else if (what == 'v') {
            stack[depth++] = values[expression->steps[i].value];
        } else if (what == '~') {
            stack[depth - 1] = -stack[depth - 1];
        } else {
            depth--;
            stack[depth - 1] = apply(what, stack[depth - 1], stack[depth]);
        }
    }
    return depth ? stack[depth - 1] : NAN;
}

int yarn_expression_missing(const struct yarn_expression *expression, const double *values)
{
    for (size_t i = 0; i < expression->count; i++)
        if (expression->steps[i].what == 'v' && isnan(values[expression->steps[i].value]))
            return (int)expression->steps[i].value;
    return -ENOENT;
}

bool yarn_expression_needs(const struct yarn_expression *expression, unsigned value)
{
    for (size_t i = 0; i < expression->count; i++)
        if (expression->steps[i].what == 'v' && expression->steps[i].value == value)
            return true;
    return false;
}
