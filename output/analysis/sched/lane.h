/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The lives of threads in slices of equal length: what they did in each. Threads: any number at
 * once, each with cells of its own.
 */
#pragma once

#include "output/analysis/sched/walk.h"

struct yarn_sched_cell {
    uint64_t states[YARN_SCHED_STATES]; /* ns; what is missing of the slice was nobody's life */
};

struct yarn_sched_lane {
    struct yarn_sched_cell *cells; /* the caller's */
    uint32_t count;
    uint64_t from_ns, slice_ns; /* the first slice begins there; each is so long */
};

/* Slices of which so many are a window. */
static inline struct yarn_sched_lane
yarn_sched_lane_of(struct yarn_sched_cell *cells, uint32_t count, uint64_t from_ns, uint64_t to_ns)
{
    return (struct yarn_sched_lane){cells, count, from_ns, (to_ns - from_ns) / count + 1};
}

/* Adds the part of the life that lies in the window and in the slices. */
void yarn_sched_lane_add(const struct yarn_sched_lane *lane, const struct yarn_sched_log *sched,
                         const struct yarn_sched_life *life, uint64_t from_ns, uint64_t to_ns);
