/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/cells.h"

#include <stdlib.h>

#include "output/analysis/array.h"

static uint64_t hash_of(const struct yarn_cell *cell)
{
    uint64_t rest =
        (uint64_t)cell->event << 48 | (uint64_t)cell->cpu << 32 | (uint64_t)cell->stack_end << 24;
    uint64_t key = (uint64_t)cell->thread << 32 | cell->stack;
    return yarn_hash_u64(key ^ yarn_hash_u64(rest));
}

static bool is_same(const struct yarn_cell *a, const struct yarn_cell *b)
{
    return a->stack == b->stack && a->thread == b->thread && a->event == b->event &&
           a->cpu == b->cpu && a->stack_end == b->stack_end;
}

/* The slot of the cell with these fields, or the free one where it belongs. */
static uint32_t *slot_of(const struct yarn_cells *cells, const struct yarn_cell *cell)
{
    size_t mask = cells->nr_slots - 1;
    size_t at = (size_t)hash_of(cell) & mask;
    while (cells->slots[at] && !is_same(&cells->cells[cells->slots[at] - 1], cell))
        at = (at + 1) & mask;
    return &cells->slots[at];
}

static int grow_slots(struct yarn_cells *cells)
{
    struct yarn_cells bigger = *cells;
    bigger.nr_slots = cells->nr_slots ? cells->nr_slots * 2 : 1024;
    bigger.slots = calloc(bigger.nr_slots, sizeof *bigger.slots);
    if (!bigger.slots)
        return -ENOMEM;
    for (size_t i = 0; i < cells->count; i++)
        *slot_of(&bigger, &cells->cells[i]) = (uint32_t)i + 1;
    free(cells->slots);
    *cells = bigger;
    return 0;
}

int yarn_cells_add(struct yarn_cells *cells, const struct yarn_cell *more)
{
    if ((cells->count + 1) * 3 > cells->nr_slots * 2) {
        int err = grow_slots(cells);
        if (err)
            return err;
    }
    uint32_t *slot = slot_of(cells, more);
    if (*slot) {
        struct yarn_cell *cell = &cells->cells[*slot - 1];
        cell->weight += more->weight;
        cell->samples += more->samples;
        return 0;
    }
    struct yarn_cell *grown =
        yarn_array_grow(cells->cells, &cells->capacity, cells->count + 1, sizeof *grown);
    if (!grown)
        return -ENOMEM;
    cells->cells = grown;
    grown[cells->count++] = *more;
    *slot = (uint32_t)cells->count;
    return 0;
}

void yarn_cells_fini(struct yarn_cells *cells)
{
    free(cells->cells);
    free(cells->slots);
    *cells = (struct yarn_cells){0};
}
