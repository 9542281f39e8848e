/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The life of a thread in slices of equal length: what it did in each. Threads: any number at once,
 * each with cells of its own.
 */
#pragma once

#include "output/analysis/sched/walk.h"

struct yarn_sched_cell {
    uint64_t states[YARN_SCHED_STATES]; /* ns; what is missing of the slice was not its life */
};

/* `count` slices of the window; the cells are the caller's. */
void yarn_sched_lane(const struct yarn_sched_log *sched, const struct yarn_sched_life *life,
                     uint64_t from_ns, uint64_t to_ns, struct yarn_sched_cell *cells,
                     uint32_t count);
