/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples added up: one cell for each (event, thread, stack, stack end, cpu, value) that occurs.
 * Whoever has no use for cpus or values passes 0 for all.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_cell {
    uint64_t weight;
    uint64_t samples;
    double squares;   /* of each sample's weight: for the variance */
    uint64_t latency; /* sum over the samples: of their accesses to memory */
    uint32_t stack;   /* YARN_DUMP_NONE: none */
    uint32_t thread;
    uint32_t value; /* a text: what distinguishes samples beside the others */
    uint16_t event;
    uint16_t cpu;
    uint8_t stack_end; /* enum yarn_dump_stack_end */
};

struct yarn_cells {
    struct yarn_cell *cells; /* owned array */
    size_t count;
    size_t capacity;
    uint64_t *slots; /* owned; half its hash, then 1 + number of a cell; 0: free */
    size_t nr_slots; /* a power of two */
};

/* Adds weight, samples, squares and latency of `more` to the cell of its other fields. */
YARN_MUST_CHECK int yarn_cells_add(struct yarn_cells *cells, const struct yarn_cell *more);

/* Changes other fields than those; false: the cell goes. */
typedef bool yarn_cell_change_fn(void *self, struct yarn_cell *cell);

/* Changes each, and adds up those that are alike then. Takes no memory. */
void yarn_cells_change(struct yarn_cells *cells, yarn_cell_change_fn *change, void *self);
void yarn_cells_fini(struct yarn_cells *cells);
