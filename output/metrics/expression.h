/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Arithmetic over named values: numbers, + - * / and parentheses. Knows no events.
 * Threads, signals: pure functions over values.
 */
#pragma once

#include "core/base/span.h"

enum { YARN_EXPRESSION_STEPS = 64 };

struct yarn_expression {
    struct {
        char what;      /* 'n': a number, 'v': a value, '-' as '~' with one operand, or + - * / */
        unsigned value; /* its number */
        double number;
    } steps[YARN_EXPRESSION_STEPS]; /* operands before what is done with them */
    size_t count;
};

/* The number of the value of that name; -ENOENT. */
typedef int yarn_expression_find_fn(const void *self, struct yarn_span name);

/* -EINVAL with a static sentence; *ret_word is what is at fault. */
YARN_MUST_CHECK int yarn_expression_parse(struct yarn_span text, yarn_expression_find_fn *find,
                                          const void *self, struct yarn_expression *ret_expression,
                                          const char **ret_why, struct yarn_span *ret_word);

/* NAN where a value that it needs is, or where it divides by 0. */
double yarn_expression_evaluate(const struct yarn_expression *expression, const double *values);

/* Whether the value of that number is in it. */
bool yarn_expression_needs(const struct yarn_expression *expression, unsigned value);

/* The first value that it needs and that is NAN; -ENOENT: none. */
YARN_MUST_CHECK int yarn_expression_missing(const struct yarn_expression *expression,
                                            const double *values);
