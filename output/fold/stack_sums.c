/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/stack_sums.h"

#include <stdlib.h>

/* Stacks by who called them, each once visited between its begin and its end. */
struct walk {
    const struct yarn_profile *profile;
    uint32_t *first, *next; /* owned; of each stack: what it calls, what else its caller calls */
    uint32_t *nr_open;      /* owned; of each key: stacks that have begun */
    uint32_t outermost;
};

static void walk_fini(struct walk *walk)
{
    free(walk->first);
    free(walk->next);
    free(walk->nr_open);
}

static size_t count_keys(const struct yarn_profile *profile, const uint32_t *keys)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        if (keys[i] != YARN_DUMP_NONE)
            count = yarn_size_max(count, (size_t)keys[i] + 1);
    }
    return count;
}

static bool walk_init(struct walk *walk, const struct yarn_profile *profile, const uint32_t *keys)
{
    *walk = (struct walk){
        .profile = profile,
        .first = malloc((profile->nr_stacks + 1) * sizeof *walk->first),
        .next = malloc((profile->nr_stacks + 1) * sizeof *walk->next),
        .nr_open = calloc(count_keys(profile, keys) + 1, sizeof *walk->nr_open),
        .outermost = YARN_DUMP_NONE,
    };
    if (!walk->first || !walk->next || !walk->nr_open) {
        walk_fini(walk);
        return false;
    }
    for (size_t i = 0; i < profile->nr_stacks; i++)
        walk->first[i] = YARN_DUMP_NONE;
    for (size_t i = profile->nr_stacks; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        uint32_t *first = parent == YARN_DUMP_NONE ? &walk->outermost : &walk->first[parent];
        walk->next[i] = *first;
        *first = (uint32_t)i;
    }
    return true;
}

static void begin(struct walk *walk, const uint32_t *keys, uint32_t stack, uint8_t *repeated)
{
    if (keys[stack] != YARN_DUMP_NONE)
        repeated[stack] = walk->nr_open[keys[stack]]++ != 0;
}

/* Ends the stack and those outside of it of which it was the last; the next, or YARN_DUMP_NONE. */
static uint32_t end(struct walk *walk, const uint32_t *keys, uint32_t stack)
{
    for (;;) {
        if (keys[stack] != YARN_DUMP_NONE)
            walk->nr_open[keys[stack]]--;
        if (walk->next[stack] != YARN_DUMP_NONE)
            return walk->next[stack];
        stack = walk->profile->stacks[stack].parent;
        if (stack == YARN_DUMP_NONE)
            return stack;
    }
}

uint8_t *yarn_stacks_repeated(const struct yarn_profile *profile, const uint32_t *keys)
{
    struct walk walk;
    if (!walk_init(&walk, profile, keys))
        return NULL;
    uint8_t *repeated = calloc(profile->nr_stacks + 1, 1);
    uint32_t stack = repeated ? walk.outermost : YARN_DUMP_NONE;
    while (stack != YARN_DUMP_NONE) {
        begin(&walk, keys, stack, repeated);
        stack = walk.first[stack] != YARN_DUMP_NONE ? walk.first[stack] : end(&walk, keys, stack);
    }
    walk_fini(&walk);
    return repeated;
}

struct yarn_stack_sum *yarn_stack_sums(const struct yarn_choice *choice, uint32_t event)
{
    const struct yarn_profile *profile = choice->profile;
    struct yarn_stack_sum *sums = calloc(profile->nr_stacks + 1, sizeof *sums);
    const struct yarn_cell *cell;
    if (!sums)
        return NULL;
    for (size_t at = 0; (cell = yarn_choice_next(choice, event, &at));) {
        if (cell->stack == YARN_DUMP_NONE)
            continue;
        sums[cell->stack].total += cell->weight;
        sums[cell->stack].samples += cell->samples;
        sums[cell->stack].squares += cell->squares;
    }
    /* A parent has a smaller number than its children. */
    for (size_t i = profile->nr_stacks; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        if (parent == YARN_DUMP_NONE || !sums[i].samples)
            continue;
        sums[parent].total += sums[i].total;
        sums[parent].samples += sums[i].samples;
        sums[parent].squares += sums[i].squares;
    }
    return sums;
}
