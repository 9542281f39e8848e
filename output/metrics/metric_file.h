/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A file of metrics, one statement a line, # begins a comment:
 *     title "TEXT"
 *     event NAME, NAME = LIST            the events of the list, in order
 *     metric NAME = EXPR [UNIT] "TEXT"   over these names, time (s), threads, cpus
 * Knows the text; does not know which events there are.
 *
 * Threads: one owner of the arena. Signals: safe as far as the arena is.
 */
#pragma once

#include "core/base/arena.h"
#include "output/metrics/expression.h"

enum {
    YARN_METRIC_NAMES_MAX = 64,
    YARN_METRIC_LISTS_MAX = 32,
    YARN_METRIC_METRICS_MAX = 64,
};

/* Values of an expression: these, then the names in order. */
enum yarn_metric_variable {
    YARN_METRIC_TIME,
    YARN_METRIC_THREADS,
    YARN_METRIC_CPUS,
    YARN_METRIC_VARIABLE_COUNT,
};

struct yarn_metric_list {
    const char *text; /* in the syntax of YARN_EVENTS */
    size_t first_name, nr_names;
    unsigned line;
};

struct yarn_metric {
    const char *name, *unit, *text;
    struct yarn_expression expression;
};

struct yarn_metric_file {
    const char *title;
    const char *names[YARN_METRIC_NAMES_MAX];
    size_t nr_names;
    struct yarn_metric_list lists[YARN_METRIC_LISTS_MAX];
    size_t nr_lists;
    struct yarn_metric metrics[YARN_METRIC_METRICS_MAX];
    size_t nr_metrics;
};

struct yarn_metric_fault {
    unsigned line;
    char text[200];
};

/* -EINVAL with *ret_fault filled; -ENOMEM. Keeps nothing of `text`. */
YARN_MUST_CHECK int yarn_metric_file_parse(struct yarn_span text, struct yarn_arena *arena,
                                           struct yarn_metric_file *ret_file,
                                           struct yarn_metric_fault *ret_fault);
