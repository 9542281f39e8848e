/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/profile/stack_index.h"

#include <stdlib.h>

static uint64_t hash_of(uint32_t parent, uint32_t frame)
{
    return yarn_hash_u64((uint64_t)parent << 32 | frame);
}

/* The slot of the stack, or the free one where it belongs. */
static uint32_t *slot_of(const struct yarn_stack_index *index,
                         const struct yarn_profile_stack *stacks, uint32_t parent, uint32_t frame)
{
    size_t mask = index->nr_slots - 1;
    size_t at = (size_t)hash_of(parent, frame) & mask;
    while (index->slots[at]) {
        const struct yarn_profile_stack *stack = &stacks[index->slots[at] - 1];
        if (stack->parent == parent && stack->frame == frame)
            break;
        at = (at + 1) & mask;
    }
    return &index->slots[at];
}

static int make_room(struct yarn_stack_index *index, size_t count)
{
    size_t nr_slots = index->nr_slots ? index->nr_slots : 1024;
    while (count * 3 > nr_slots * 2)
        nr_slots *= 2;
    if (nr_slots == index->nr_slots)
        return 0;
    free(index->slots); /* before the larger table is allocated: the slots are computed again */
    uint32_t *slots = calloc(nr_slots, sizeof *slots);
    *index = (struct yarn_stack_index){.slots = slots, .nr_slots = slots ? nr_slots : 0};
    return slots ? 0 : -ENOMEM;
}

int yarn_stack_index_extend(struct yarn_stack_index *index, const struct yarn_profile_stack *stacks,
                            size_t count)
{
    if (count == index->count)
        return 0;
    int err = make_room(index, count);
    if (err)
        return err;
    for (; index->count < count; index->count++) {
        const struct yarn_profile_stack *stack = &stacks[index->count];
        uint32_t *slot = slot_of(index, stacks, stack->parent, stack->frame);
        if (!*slot)
            *slot = (uint32_t)index->count + 1;
    }
    return 0;
}

uint32_t yarn_stack_index_find(const struct yarn_stack_index *index,
                               const struct yarn_profile_stack *stacks, uint32_t parent,
                               uint32_t frame)
{
    uint32_t slot = index->count ? *slot_of(index, stacks, parent, frame) : 0;
    return slot ? slot - 1 : YARN_DUMP_NONE;
}

void yarn_stack_index_fini(struct yarn_stack_index *index)
{
    free(index->slots);
    *index = (struct yarn_stack_index){0};
}
