/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/value/cells.h"

#include <stdlib.h>

#include "output/base/array.h"

static uint32_t hash_of(const struct yarn_cell *cell)
{
    uint64_t rest =
        (uint64_t)cell->event << 48 | (uint64_t)cell->cpu << 32 | (uint64_t)cell->stack_end << 24;
    uint64_t key = ((uint64_t)cell->thread << 32 | cell->stack) + yarn_hash_u64(cell->value);
    return (uint32_t)yarn_hash_u64(key ^ yarn_hash_u64(rest));
}

static bool is_same(const struct yarn_cell *a, const struct yarn_cell *b)
{
    return a->stack == b->stack && a->thread == b->thread && a->event == b->event &&
           a->cpu == b->cpu && a->stack_end == b->stack_end && a->value == b->value;
}

/* The slot of the cell with these fields, or the free one where it belongs. Why the hash is in the
 * slot: other cells are not looked at, which are seldom in the cache. */
static uint64_t *slot_of(const struct yarn_cells *cells, const struct yarn_cell *cell,
                         uint32_t hash)
{
    size_t mask = cells->nr_slots - 1;
    size_t at = hash & mask;
    while (cells->slots[at]) {
        uint64_t slot = cells->slots[at];
        if (slot >> 32 == hash && is_same(&cells->cells[(uint32_t)slot - 1], cell))
            break;
        at = (at + 1) & mask;
    }
    return &cells->slots[at];
}

static int grow_slots(struct yarn_cells *cells)
{
    size_t nr_slots = cells->nr_slots ? cells->nr_slots * 2 : 1024;
    free(cells->slots); /* before there are others: both together would be the most of all memory */
    uint64_t *slots = cells->slots = calloc(nr_slots, sizeof *slots);
    cells->nr_slots = slots ? nr_slots : 0;
    if (!slots)
        return -ENOMEM;
    for (size_t i = 0; i < cells->count; i++) {
        uint32_t hash = hash_of(&cells->cells[i]);
        size_t at = hash & (nr_slots - 1);
        while (slots[at])
            at = (at + 1) & (nr_slots - 1);
        slots[at] = (uint64_t)hash << 32 | (uint32_t)(i + 1);
    }
    return 0;
}

/* There is room for one more. */
static void place(struct yarn_cells *cells, const struct yarn_cell *more)
{
    uint32_t hash = hash_of(more);
    uint64_t *slot = slot_of(cells, more, hash);
    if (*slot) {
        struct yarn_cell *cell = &cells->cells[(uint32_t)*slot - 1];
        cell->weight += more->weight;
        cell->samples += more->samples;
        cell->squares += more->squares;
        cell->latency += more->latency;
    } else {
        cells->cells[cells->count++] = *more;
        *slot = (uint64_t)hash << 32 | (uint32_t)cells->count;
    }
}

int yarn_cells_add(struct yarn_cells *cells, const struct yarn_cell *more)
{
    if ((cells->count + 1) * 3 > cells->nr_slots * 2) {
        int err = grow_slots(cells);
        if (err)
            return err;
    }
    if (YARN_ARRAY_RESERVE(&cells->cells, &cells->capacity, cells->count + 1))
        return -ENOMEM;
    place(cells, more);
    return 0;
}

void yarn_cells_change(struct yarn_cells *cells, yarn_cell_change_fn *change, void *self)
{
    size_t nr_before = cells->count;
    cells->count = 0;
    if (nr_before)
        memset(cells->slots, 0, cells->nr_slots * sizeof *cells->slots);
    for (size_t i = 0; i < nr_before; i++) {
        struct yarn_cell cell = cells->cells[i];
        if (change(self, &cell))
            place(cells, &cell);
    }
}

void yarn_cells_fini(struct yarn_cells *cells)
{
    free(cells->cells);
    free(cells->slots);
    *cells = (struct yarn_cells){0};
}
