/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What changed from one profile to another, in all and by function. What was spent a run, a second
 * and a mark and the share of the samples are compared, each with the interval in which the change
 * lies with 95 %.
 * The formulas stand in change.h.
 *
 * CPU time in the kernel that was not sampled is a function, too, [kernel], as if it had been
 * sampled once a period; its share is of itself and all samples.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "output/fold/change.h"
#include "output/fold/choice.h"
#include "output/fold/clusters.h"
#include "output/fold/match.h"

enum yarn_diff_part { YARN_DIFF_SELF, YARN_DIFF_TOTAL, YARN_DIFF_PART_COUNT };

struct yarn_diff_row {
    uint32_t event, function; /* of the diff, of its match */
    struct yarn_diff_sum sums[YARN_DIFF_PART_COUNT][2];
    struct yarn_change changes[YARN_DIFF_SCALE_COUNT][YARN_DIFF_PART_COUNT];
};

struct yarn_diff_event {
    const char *name, *unit;        /* borrowed from the profiles */
    uint32_t numbers[2];            /* of the profiles; YARN_DUMP_NONE: that one has none */
    bool is_missing[2];             /* it was not recorded there: nothing is compared */
    struct yarn_diff_sum totals[2]; /* of all samples in the time that is looked at */
    struct yarn_diff_sum wholes[2]; /* with [kernel] */
    /* Changes of the wholes; none by shares, which are 100 % of both. */
    struct yarn_change changes[YARN_DIFF_SCALE_COUNT];
};

/* A total is no share. */
static inline enum yarn_diff_scale yarn_diff_scale_of_total(enum yarn_diff_scale scale)
{
    return scale == YARN_DIFF_SHARES ? YARN_DIFF_RUNS : scale;
}

struct yarn_diff_options {
    bool is_part;                  /* something is left out: [kernel] is, too */
    uint64_t from_ns[2], to_ns[2]; /* the time that is looked at */
    enum yarn_diff_scale scale;    /* of the order */
    enum yarn_diff_part part;
};

struct yarn_diff {
    struct yarn_match match;
    struct yarn_diff_event *events; /* owned array */
    size_t nr_events, events_capacity;
    struct yarn_diff_bases bases[2];
    size_t nr_runs[2], nr_processes[2];
    bool is_by_runs; /* the intervals are of the runs' spread */
    /* Owned array: by event; what is within noise last; then by the size of the change, by name. */
    struct yarn_diff_row *rows;
    size_t count, capacity;
};

static inline bool yarn_diff_event_is_missing(const struct yarn_diff_event *event)
{
    return event->is_missing[0] || event->is_missing[1];
}

YARN_MUST_CHECK int yarn_diff_build(const struct yarn_choice choices[2],
                                    const struct yarn_diff_options *options,
                                    struct yarn_diff *ret_diff);
void yarn_diff_fini(struct yarn_diff *diff);
