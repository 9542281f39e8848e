/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The samples of a profile added up by time: one cell for each (event, lane of threads, stack,
 * stack end, slice) that occurs. They are bounded by a fixed number, or by twice the stacks where
 * that is more: what would go beyond makes slices wider, and joins threads into lanes where that
 * saves more. The sums stay exact. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"
#include "output/analysis/time/timeline.h"
#include "output/export/page/lanes.h"

struct yarn_slices {
    struct yarn_cells
        cells; /* `cpu` is the number of the slice, `thread` that of the lane's first */
    struct yarn_lanes lanes;
    size_t bound;      /* of the cells, where stacks are few */
    size_t most_cells; /* with so many, slices and lanes are looked at again */
    bool is_full;      /* there is nothing left to give up */
    unsigned shift;    /* a slice lasts 1 << shift ns */
    uint64_t base;     /* slice 0 begins at base << shift */
    uint32_t count;
    uint64_t from_ns, to_ns; /* are shown in any case; to_ns 0: what has samples is */
};

/* The filter is borrowed and chooses threads; NULL: all. */
void yarn_slices_init(struct yarn_slices *slices, const struct yarn_filter *filter);
void yarn_slices_fini(struct yarn_slices *slices);

/* A yarn_sample_fn; `self` are the slices. */
int yarn_slices_take(void *self, const struct yarn_profile *profile,
                     const struct yarn_timeline_entry *sample);

/* The first slice that is shown. */
uint32_t yarn_slices_first(const struct yarn_slices *slices);

/* How many are shown, from the first on. */
uint32_t yarn_slices_shown(const struct yarn_slices *slices);

/* After the last sample: shows that time, too. Slices become wider where they are too many. */
void yarn_slices_cover(struct yarn_slices *slices, uint64_t from_ns, uint64_t to_ns);

/* After the last sample. Slices become 1 << shift ns wide, if they are narrower now. */
YARN_MUST_CHECK int yarn_slices_finish(struct yarn_slices *slices,
                                       const struct yarn_profile *profile, unsigned shift);
