/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/fold.h"

#include <stdlib.h>

/* Stacks by who called them, each once visited between its begin and its end. */
struct walk {
    const struct yarn_profile *profile;
    uint32_t *first, *next; /* owned; of each stack: what it calls, what else its caller calls */
    uint32_t *nr_open;      /* owned; of each key: stacks that have begun */
};

static size_t count_keys(const struct yarn_profile *profile, const uint32_t *keys)
{
    size_t count = 0;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        if (keys[i] != YARN_DUMP_NONE)
            count = yarn_size_max(count, (size_t)keys[i] + 1);
    }
    return count;
}

uint32_t yarn_stacks_link(const struct yarn_profile *profile, const struct yarn_sum *sums,
                          uint32_t *callees, uint32_t *next)
{
    uint32_t outermost = YARN_DUMP_NONE;
    for (size_t i = 0; i < profile->nr_stacks; i++)
        callees[i] = YARN_DUMP_NONE;
    for (size_t i = profile->nr_stacks; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        uint32_t *first = parent == YARN_DUMP_NONE ? &outermost : &callees[parent];
        if (sums && !sums[i].samples)
            continue;
        next[i] = *first;
        *first = (uint32_t)i;
    }
    return outermost;
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

/* Linear, however deep the stacks are. Owned by the caller; NULL: no memory. */
static uint8_t *find_repeated(const struct yarn_profile *profile, const uint32_t *keys)
{
    struct walk walk = {
        .profile = profile,
        .first = malloc((profile->nr_stacks + 1) * sizeof *walk.first),
        .next = malloc((profile->nr_stacks + 1) * sizeof *walk.next),
        .nr_open = calloc(count_keys(profile, keys) + 1, sizeof *walk.nr_open),
    };
    uint8_t *repeated = NULL;
    uint32_t stack = YARN_DUMP_NONE;
    if (walk.first && walk.next && walk.nr_open)
        repeated = calloc(profile->nr_stacks + 1, 1);
    if (repeated)
        stack = yarn_stacks_link(profile, NULL, walk.first, walk.next);
    while (stack != YARN_DUMP_NONE) {
        begin(&walk, keys, stack, repeated);
        stack = walk.first[stack] != YARN_DUMP_NONE ? walk.first[stack] : end(&walk, keys, stack);
    }
    free(walk.first);
    free(walk.next);
    free(walk.nr_open);
    return repeated;
}

int yarn_fold_init(struct yarn_fold *fold, const struct yarn_profile *profile, uint32_t *keys)
{
    *fold = (struct yarn_fold){.keys = keys};
    for (size_t i = 0; i < YARN_FUNCTION_PSEUDO_COUNT; i++)
        fold->roots[i] = YARN_DUMP_NONE;
    if (keys)
        fold->repeated = find_repeated(profile, keys);
    if (fold->repeated)
        return 0;
    yarn_fold_fini(fold);
    return -ENOMEM;
}

void yarn_fold_fini(struct yarn_fold *fold)
{
    free(fold->keys);
    free(fold->selfs);
    free(fold->repeated);
    *fold = (struct yarn_fold){0};
}

struct yarn_sum *yarn_stack_sums(const struct yarn_choice *choice, uint32_t event)
{
    const struct yarn_profile *profile = choice->profile;
    struct yarn_sum *sums = calloc(profile->nr_stacks + 1, sizeof *sums);
    const struct yarn_cell *cell;
    if (!sums)
        return NULL;
    for (size_t at = 0; (cell = yarn_choice_next(choice, event, &at));) {
        struct yarn_sum more = yarn_sum_of(cell);
        yarn_sum_add(&sums[profile->nr_stacks], &more);
        if (cell->stack != YARN_DUMP_NONE)
            yarn_sum_add(&sums[cell->stack], &more);
    }
    /* A parent has a smaller number than its children. */
    for (size_t i = sums[profile->nr_stacks].samples ? profile->nr_stacks : 0; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        if (parent != YARN_DUMP_NONE && sums[i].samples)
            yarn_sum_add(&sums[parent], &sums[i]);
    }
    return sums;
}

/* Innermost frames, and functions that stand for stacks, or their root sides, that are missing. */
static void add_ends(const struct yarn_fold *fold, const struct yarn_choice *choice, uint32_t event,
                     struct yarn_group *groups)
{
    const uint32_t *selfs = fold->selfs ? fold->selfs : fold->keys;
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(choice, event, &at));) {
        struct yarn_sum more = yarn_sum_of(cell);
        bool has_stack = cell->stack != YARN_DUMP_NONE;
        uint32_t root = yarn_profile_root_of(cell->stack, cell->stack_end);
        uint32_t key = root == YARN_DUMP_NONE ? root : fold->roots[root];
        uint32_t leaf = has_stack ? selfs[cell->stack] : key;
        if (leaf != YARN_DUMP_NONE)
            yarn_group_add_self(&groups[leaf], &more);
        if (key != YARN_DUMP_NONE && !(has_stack && fold->has_no_root_sides))
            yarn_group_add_total(&groups[key], &more);
    }
}

int yarn_fold_add(const struct yarn_fold *fold, const struct yarn_choice *choice, uint32_t event,
                  struct yarn_group *groups)
{
    struct yarn_sum *sums = yarn_stack_sums(choice, event);
    if (!sums)
        return -ENOMEM;
    for (size_t i = 0; i < choice->profile->nr_stacks; i++) {
        if (sums[i].samples && fold->keys[i] != YARN_DUMP_NONE && !fold->repeated[i])
            yarn_group_add_total(&groups[fold->keys[i]], &sums[i]);
    }
    free(sums);
    add_ends(fold, choice, event, groups);
    return 0;
}
