/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What changed from one profile to another, by function. A function's share of the samples and what
 * it spent a second are compared, each with the interval in which the change lies with 95 % (normal
 * approximation of counts):
 *  - shares p = (n + 1) / (N + 2), n of the N samples (Agresti and Caffo): 1.96 times the square
 *    root of the sum of p (1 - p) / (N + 2) over both profiles;
 *  - a second: n samples of a Poisson process in T seconds, each of the event's mean weight w: 1.96
 *    times the square root of the sum of (n + 1) (w / T)^2.
 * A change whose interval holds 0 is within noise. Of many functions that did not change, one in
 * twenty is outside.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/filter.h"
#include "output/analysis/match.h"

enum yarn_diff_scale { YARN_DIFF_SHARES, YARN_DIFF_SECONDS, YARN_DIFF_SCALE_COUNT };
enum yarn_diff_part { YARN_DIFF_SELF, YARN_DIFF_TOTAL, YARN_DIFF_PART_COUNT };

struct yarn_change {
    double values[2]; /* before, after: percent, or the event's unit a second */
    double change;    /* the difference */
    double noise;     /* the interval is change - noise to change + noise */
    bool is_noise;
};

struct yarn_diff_sum {
    uint64_t weight, samples;
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

struct yarn_diff_options {
    const struct yarn_filter *filter;
    double seconds[2];          /* how long was recorded; 0: nothing is known a second */
    enum yarn_diff_scale scale; /* of the order */
    enum yarn_diff_part part;
};

struct yarn_diff {
    struct yarn_match match;
    struct yarn_diff_event *events; /* owned array */
    size_t nr_events, events_capacity;
    /* Owned array: by event; what is within noise last; then by the size of the change, by name. */
    struct yarn_diff_row *rows;
    size_t count, capacity;
};

YARN_MUST_CHECK int yarn_diff_build(const struct yarn_profile *const profiles[2],
                                    const struct yarn_diff_options *options,
                                    struct yarn_diff *ret_diff);
void yarn_diff_fini(struct yarn_diff *diff);
