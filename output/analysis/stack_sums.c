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
        struct yarn_stack_sum *sum = &sums[cell->stack];
        sum->self += cell->weight;
        sum->samples += cell->samples;
        sum->total += cell->weight;
        sum->total_samples += cell->samples;
    }
    /* A parent has a smaller number than its children. */
    for (size_t i = profile->nr_stacks; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        if (parent == YARN_DUMP_NONE)
            continue;
        sums[parent].total += sums[i].total;
        sums[parent].total_samples += sums[i].total_samples;
    }
    return sums;
}

int yarn_stack_links_init(struct yarn_stack_links *links, const struct yarn_profile *profile)
{
    size_t count = profile->nr_stacks;
    *links = (struct yarn_stack_links){
        .first_child = calloc(count + 1, sizeof *links->first_child),
        .next_sibling = calloc(count + 1, sizeof *links->next_sibling),
        .first_root = YARN_DUMP_NONE,
    };
    if (!links->first_child || !links->next_sibling) {
        yarn_stack_links_fini(links);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        links->first_child[i] = YARN_DUMP_NONE;
    for (size_t i = count; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        uint32_t *first =
            parent == YARN_DUMP_NONE ? &links->first_root : &links->first_child[parent];
        links->next_sibling[i] = *first;
        *first = (uint32_t)i;
    }
    return 0;
}

void yarn_stack_links_fini(struct yarn_stack_links *links)
{
    free(links->first_child);
    free(links->next_sibling);
    *links = (struct yarn_stack_links){.first_root = YARN_DUMP_NONE};
}

/* The first of the siblings from `stack` on that spent anything. */
static uint32_t next_used(const struct yarn_stack_links *links, const struct yarn_stack_sum *sums,
                          uint32_t stack)
{
    while (stack != YARN_DUMP_NONE && !sums[stack].total_samples)
        stack = links->next_sibling[stack];
    return stack;
}

void yarn_stack_links_walk(const struct yarn_stack_links *links, const struct yarn_profile *profile,
                           const struct yarn_stack_sum *sums, yarn_stack_visit_fn *enter,
                           yarn_stack_visit_fn *leave, void *self)
{
    uint32_t stack = next_used(links, sums, links->first_root);
    while (stack != YARN_DUMP_NONE) {
        enter(self, stack);
        uint32_t next = next_used(links, sums, links->first_child[stack]);
        /* Why a loop and no recursion: stacks may be thousands of frames deep. */
        while (next == YARN_DUMP_NONE && stack != YARN_DUMP_NONE) {
            leave(self, stack);
            next = next_used(links, sums, links->next_sibling[stack]);
            stack = profile->stacks[stack].parent;
        }
        stack = next;
    }
}
