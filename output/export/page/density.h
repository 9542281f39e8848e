/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How many single events of each kind and lane fell into each slice of a page, where they are too
 * many to be shown one by one. Slices are wider than the page's where there would be too many.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/export/page/graph.h"
#include "output/export/page/packed.h"

struct yarn_page_density {
    size_t nr_kinds, nr_lanes;
    uint32_t nr_slices; /* as many as the page's >> wider, and one */
    unsigned wider;
    uint64_t from_ns, slice_ns;
    uint32_t *counts; /* owned: by kind, lane, slice */
};

/* -ENOMEM. */
YARN_MUST_CHECK int yarn_page_density_init(const struct yarn_page_graph *graph, size_t nr_kinds,
                                           struct yarn_page_density *ret_density);
/* Idempotent. */
void yarn_page_density_fini(struct yarn_page_density *density);

/* What has no lane is not counted. */
void yarn_page_density_add(struct yarn_page_density *density, uint32_t kind, uint32_t lane,
                           uint64_t time_ns);

/* `wider`; then of each kind and lane 0, or 1 and a count a slice. */
void yarn_page_density_write(const struct yarn_page_density *density, struct yarn_packed *packed);
