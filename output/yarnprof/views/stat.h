/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof stat` prints: rows of counted events, and metrics made of them. Knows numbers;
 * does not know who counted. Threads: one.
 */
#pragma once

#include "core/event/status.h"
#include "output/yarnprof/io/out.h"

struct yarn_stat_row {
    const char *name, *unit; /* borrowed, as all texts here */
    const char *thread;      /* whose count it is; NULL: of all */
    uint32_t pid, tid;       /* where `thread` is one */
    const char *why;         /* it was refused, or counts less than asked; NULL */
    bool is_refused;
    bool is_user_only;  /* the kernel's part was not permitted */
    uint64_t nr_missed; /* children of which nothing is in it, as a recording has them */
    double scale;       /* a count times this is in `unit` */
    uint64_t count;     /* as read; of several runs the mean */
    uint64_t enabled_ns, running_ns;
    double value;      /* in `unit`, scaled up where it ran for a part only; NAN where unknown */
    double plus_minus; /* 95 % of the runs' means are so near to `value`; negative: one run */
};

/* It did not run all of the time that it was enabled. Less than 0.005 % is none: the kernel updates
 * the two times a moment apart, also of what always runs. */
static inline bool yarn_stat_was_shared(const struct yarn_stat_row *row)
{
    return row->running_ns < row->enabled_ns &&
           row->enabled_ns - row->running_ns > row->enabled_ns / 20000;
}

/* Bits of enum yarn_event_status_bit. */
static inline uint32_t yarn_stat_status(const struct yarn_stat_row *row)
{
    if (row->is_refused)
        return YARN_EVENT_REFUSED;
    return (row->is_user_only ? YARN_EVENT_USER_ONLY : 0u) |
           (yarn_stat_was_shared(row) ? YARN_EVENT_MULTIPLEXED : 0u) |
           (row->nr_missed ? YARN_EVENT_CHILDREN_MISSING : 0u);
}

struct yarn_stat_metric {
    const char *group;
    const char *name, *unit, *text;
    const char *why; /* NULL where there is a value */
    double value;
};

/* Of a stretch of time. */
struct yarn_stat {
    struct yarn_stat_row *rows;
    size_t nr_rows;
    struct yarn_stat_metric *metrics;
    size_t nr_metrics;
    double seconds;    /* how long it is */
    double at_seconds; /* its end, since the begin */
};

struct yarn_stat_totals {
    struct yarn_stat stat;
    const char *command; /* NULL: of a dump */
    int status;
    unsigned nr_runs;
    double user_seconds, system_seconds;
    double plus_minus_seconds; /* of the wall's; negative: one run */
};

/* Fills `value` from what was read. */
void yarn_stat_scale(struct yarn_stat_row *row);

/* Of what was enabled: 0 to 100. */
double yarn_stat_percent(const struct yarn_stat_row *row);

/* How near the mean is to the true one: 95 %, by Student. */
double yarn_stat_plus_minus(const double *values, size_t count);

/* One after the other: the stretches, each as it ends, and the totals. */
void yarn_stat_print_interval(const struct yarn_out *out, const struct yarn_stat *stat,
                              bool is_first);

void yarn_stat_show(const struct yarn_out *out, const struct yarn_stat_totals *totals,
                    const struct yarn_stat *intervals, size_t nr_intervals);
