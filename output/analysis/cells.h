/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples added up: one cell for each (event, thread, stack, stack end, cpu) that occurs. Whoever
 * has no use for cpus passes 0 for all.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_cell {
    uint64_t weight;
    uint64_t samples;
    uint32_t stack; /* YARN_DUMP_NONE: none */
    uint32_t thread;
    uint16_t event;
    uint16_t cpu;
    uint8_t stack_end; /* enum yarn_dump_stack_end */
};

struct yarn_cells {
    struct yarn_cell *cells; /* owned array */
    size_t count;
    size_t capacity;
    uint32_t *slots; /* owned; 1 + number of a cell, 0: free */
    size_t nr_slots; /* a power of two */
};

/* Adds weight and samples of `more` to the cell of its other fields. */
YARN_MUST_CHECK int yarn_cells_add(struct yarn_cells *cells, const struct yarn_cell *more);
void yarn_cells_fini(struct yarn_cells *cells);
