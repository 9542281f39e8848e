/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/stack_sums.h"

#include <stdlib.h>

bool yarn_stack_choice_has(const struct yarn_stack_choice *choice, const struct yarn_cell *cell)
{
    if (cell->event != choice->event || !choice->threads[cell->thread])
        return false;
    if (choice->is_by_root && yarn_profile_root_of(cell->stack_end) != choice->root)
        return false;
    return !choice->stacks || (cell->stack != YARN_DUMP_NONE && choice->stacks[cell->stack]);
}

uint8_t *yarn_stacks_with(const struct yarn_profile *profile, const uint8_t *functions)
{
    uint8_t *stacks = calloc(profile->nr_stacks + 1, 1);
    for (size_t i = 0; stacks && i < profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &profile->stacks[i];
        stacks[i] = functions[stack->function] ||
                    (stack->parent != YARN_DUMP_NONE && stacks[stack->parent]);
    }
    return stacks;
}

uint8_t *yarn_stacks_repeated(const struct yarn_profile *profile, const uint32_t *keys)
{
    const struct yarn_profile_stack *stacks = profile->stacks;
    uint8_t *repeated = calloc(profile->nr_stacks + 1, 1);
    for (size_t i = 0; repeated && i < profile->nr_stacks; i++) {
        uint32_t key = keys[i];
        uint32_t above = stacks[i].parent;
        while (above != YARN_DUMP_NONE && keys[above] != key)
            above = stacks[above].parent;
        repeated[i] = above != YARN_DUMP_NONE;
    }
    return repeated;
}

struct yarn_stack_sum *yarn_stack_sums(const struct yarn_profile *profile,
                                       const struct yarn_stack_choice *choice)
{
    struct yarn_stack_sum *sums = calloc(profile->nr_stacks + 1, sizeof *sums);
    if (!sums)
        return NULL;
    for (size_t i = 0; i < profile->cells.count; i++) {
        const struct yarn_cell *cell = &profile->cells.cells[i];
        if (cell->stack == YARN_DUMP_NONE || !yarn_stack_choice_has(choice, cell))
            continue;
        sums[cell->stack].total += cell->weight;
        sums[cell->stack].samples += cell->samples;
    }
    /* A parent has a smaller number than its children. */
    for (size_t i = profile->nr_stacks; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        if (parent == YARN_DUMP_NONE || !sums[i].samples)
            continue;
        sums[parent].total += sums[i].total;
        sums[parent].samples += sums[i].samples;
    }
    return sums;
}
