/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What changed from one profile to another, by function. A function's share of the samples and what
 * it spent a second are compared, each with the interval in which the change lies with 95 %.
 *
 * Where each side has several runs of a program (clusters.h), their spread is what a change is
 * judged by: both a share and a rate are a ratio R = sum(x) / sum(d) over K runs, x what the
 * function spent in a run, d what all did, or its seconds; its variance is K / (K - 1) sum((x - R
 * d)^2) / sum(d)^2, and the quantile is Student's, with Welch's degrees of freedom. Centred at the
 * change.
 *
 * Else it is judged by its samples, which are taken to be independent; w are their weights:
 *  - shares: with u = sum(w^2) / sum(w) for one more sample inside and one outside (Agresti and
 *    Caffo), p = (sum of w inside + u) / (sum of w + 2 u), of variance ((1 - p)^2 (sum of w^2
 * inside
 *    + u^2) + p^2 (sum of w^2 outside + u^2)) / (sum of w + 2 u)^2. Centred at the difference of
 * these p, which for few samples is nearer to 0 than the change;
 *  - a second: a Poisson process in T seconds, variance (sum of w^2 inside + u^2) / T^2. Centred at
 * the change. 1.96 standard deviations to each side.
 *
 * CPU time in the kernel that was not sampled is a function, too, [kernel], as if it had been
 * sampled once a period; its share is of itself and all samples.
 *
 * A change whose interval holds 0 is within noise. Of many functions that did not change, one in
 * twenty is outside.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/compare/clusters.h"
#include "output/analysis/compare/match.h"
#include "output/analysis/profile/filter.h"

enum yarn_diff_scale { YARN_DIFF_SHARES, YARN_DIFF_SECONDS, YARN_DIFF_SCALE_COUNT };
enum yarn_diff_part { YARN_DIFF_SELF, YARN_DIFF_TOTAL, YARN_DIFF_PART_COUNT };

struct yarn_change {
    double values[2]; /* before, after: percent, or the event's unit a second */
    double change;    /* the difference */
    double low, high; /* the interval */
    bool is_noise;
};

/* What runs add up to, for the spread: x is a run's weight here, d its weight in all or its
 * seconds. */
struct yarn_diff_spread {
    double squares, products[YARN_DIFF_SCALE_COUNT]; /* sum of x^2; of x d */
};

struct yarn_diff_sum {
    uint64_t weight, samples;
    double squares; /* of each sample's weight */
    struct yarn_diff_spread runs;
};

struct yarn_diff_row {
    uint32_t event, function; /* of the diff, of its match */
    struct yarn_diff_sum sums[YARN_DIFF_PART_COUNT][2];
    struct yarn_change changes[YARN_DIFF_SCALE_COUNT][YARN_DIFF_PART_COUNT];
};

struct yarn_diff_event {
    const char *name, *unit;        /* borrowed from the profiles */
    uint32_t numbers[2];            /* of the profiles; YARN_DUMP_NONE: that one has none */
    struct yarn_diff_sum totals[2]; /* of all samples in the time that is looked at */
};

/* How long was recorded, run by run. */
struct yarn_diff_time {
    double seconds; /* 0: nothing is known a second */
    double squares; /* of each run's */
    size_t nr_runs;
};

struct yarn_diff_options {
    const struct yarn_filter *filter;
    bool is_part;                  /* something is left out: [kernel] is, too */
    uint64_t from_ns[2], to_ns[2]; /* the time that is looked at */
    enum yarn_diff_scale scale;    /* of the order */
    enum yarn_diff_part part;
};

struct yarn_diff {
    struct yarn_match match;
    struct yarn_diff_event *events; /* owned array */
    size_t nr_events, events_capacity;
    struct yarn_diff_time times[2];
    bool is_by_runs; /* the intervals are of the runs' spread */
    /* Owned array: by event; what is within noise last; then by the size of the change, by name. */
    struct yarn_diff_row *rows;
    size_t count, capacity;
};

YARN_MUST_CHECK int yarn_diff_build(const struct yarn_profile *const profiles[2],
                                    const struct yarn_diff_options *options,
                                    struct yarn_diff *ret_diff);
void yarn_diff_fini(struct yarn_diff *diff);
