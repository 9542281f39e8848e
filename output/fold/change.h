/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Differences of sums of weights, each with the interval in which it lies with 95 %.
 *
 * Where each side has several runs of a program (clusters.h), their spread is what a change is
 * judged by: each scale is a ratio R = sum(x) / sum(d) over K runs, x what the function spent in a
 * run, d what all did, or its seconds, marks, or 1; its variance is K / (K - 1) sum((x - R
 * d)^2) / sum(d)^2, and the quantile is Student's, with Welch's degrees of freedom. Centred at the
 * change.
 *
 * Otherwise, and for a side whose runs are all alike, it is judged by its samples, which are taken
 * to be independent; w are their weights:
 *  - shares: with u = sum(w^2) / sum(w) for one more sample inside and one outside (Agresti and
 *    Caffo), p = (sum of w inside + u) / (sum of w + 2 u), of variance ((1 - p)^2 (sum of w^2
 * inside
 *    + u^2) + p^2 (sum of w^2 outside + u^2)) / (sum of w + 2 u)^2. Centred at the difference of
 * these p, which for few samples is nearer to 0 than the change;
 *  - else: a Poisson process in T seconds, runs or marks, variance (sum of w^2 inside + u^2) / T^2.
 * Centred at the change. 1.96 standard deviations to each side.
 *
 * The ratio's interval is Fieller's, by the same variances and quantile: what was before is as
 * uncertain as what is after.
 *
 * A change whose interval holds 0 is within noise. Of many functions that did not change, one in
 * twenty is outside.
 *
 * Threads: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* The divisor of what a function spent: what all spent, seconds of recording, runs, marks. */
enum yarn_diff_scale {
    YARN_DIFF_SHARES,
    YARN_DIFF_SECONDS,
    YARN_DIFF_RUNS,
    YARN_DIFF_MARKS,
    YARN_DIFF_SCALE_COUNT,
};

/* The quantile of Student's distribution below which 97.5 % lie: a mean of `freedom` + 1 values is
 * so many of its standard deviations from the true one, at most, in 95 % of the cases. */
double yarn_change_student(double freedom);

struct yarn_change {
    double values[2]; /* before, after: percent, or the event's unit a second, run or mark */
    double change;    /* the difference */
    double low, high; /* the interval */
    /* The interval of after / before, which holds 1 where the other one holds 0. NAN: of shares,
     * and where what was before may be 0. */
    double ratio_low, ratio_high;
    bool is_noise;
};

/* Sums over runs, for the spread: x is a run's weight here, d its divisor. */
struct yarn_diff_spread {
    double squares, products[YARN_DIFF_SCALE_COUNT]; /* sum of x^2; of x d */
};

struct yarn_diff_sum {
    uint64_t weight, samples;
    double squares; /* of each sample's weight */
    struct yarn_diff_spread runs;
};

/* Divisors, of all runs: for shares none, since theirs are the wholes. */
struct yarn_diff_bases {
    double sums[YARN_DIFF_SCALE_COUNT];    /* 0: nothing is known by this scale */
    double squares[YARN_DIFF_SCALE_COUNT]; /* of each run's */
    size_t nr_runs;
};

/* `parts` of `wholes`, before and after: shares in percent, or what was spent a second, run or
 * mark. */
struct yarn_change yarn_change_of(enum yarn_diff_scale scale, const struct yarn_diff_sum parts[2],
                                  const struct yarn_diff_sum wholes[2],
                                  const struct yarn_diff_bases bases[2], bool is_by_runs);
