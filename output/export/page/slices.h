/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The samples of a profile added up by time: one cell for each (event, thread, stack, stack end,
 * slice) that occurs. The slices are as narrow as a page has use for and as memory allows: they
 * double when there are too many of them or of the cells, so that ten times the samples need no ten
 * times the memory.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile.h"
#include "output/analysis/timeline.h"

struct yarn_slices {
    struct yarn_cells cells; /* `cpu` is the number of the slice */
    unsigned shift;          /* a slice lasts 1 << shift ns */
    uint64_t base;           /* slice 0 begins at base << shift */
    uint32_t count;
};

void yarn_slices_init(struct yarn_slices *slices);
void yarn_slices_fini(struct yarn_slices *slices);

/* A yarn_sample_fn; `self` are the slices. */
int yarn_slices_take(void *self, const struct yarn_profile *profile,
                     const struct yarn_timeline_entry *sample);

/* The first slice with a sample. */
uint32_t yarn_slices_first(const struct yarn_slices *slices);

/* Slices of 1 << shift ns, if they are narrower now. */
YARN_MUST_CHECK int yarn_slices_coarsen(struct yarn_slices *slices, unsigned shift);
