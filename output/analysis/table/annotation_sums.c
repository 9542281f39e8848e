/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/analysis/table/annotation.h"
#include "output/analysis/table/stack_sums.h"

static void add_total(struct yarn_annotation_sum *sum, const struct yarn_stack_sum *more)
{
    sum->total += more->total;
    sum->total_samples += more->samples;
}

static void add_self(struct yarn_annotation_sum *sum, const struct yarn_cell *cell)
{
    sum->self += cell->weight;
    sum->samples += cell->samples;
}

/* What was spent at and below each key; once a sample, however often the key is on its stack. */
static int add_totals(const struct yarn_annotation *annotation, const uint32_t *keys,
                      const struct yarn_stack_sum *stacks, struct yarn_annotation_sum *sums)
{
    const struct yarn_profile *profile = annotation->profile;
    uint8_t *repeated = yarn_stacks_repeated(profile, keys);
    if (!repeated)
        return -ENOMEM;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        if (keys[i] != YARN_DUMP_NONE && !repeated[i] && stacks[i].samples)
            add_total(&sums[keys[i]], &stacks[i]);
    }
    free(repeated);
    return 0;
}

static int add_whole(const struct yarn_annotation *annotation, const struct yarn_stack_sum *stacks,
                     struct yarn_annotation_sum *whole)
{
    const struct yarn_profile *profile = annotation->profile;
    uint32_t *keys = malloc((profile->nr_stacks + 1) * sizeof *keys);
    if (!keys)
        return -ENOMEM;
    for (size_t i = 0; i < profile->nr_stacks; i++)
        keys[i] = profile->stacks[i].function == annotation->function ? 0 : YARN_DUMP_NONE;
    int err = add_totals(annotation, keys, stacks, whole);
    free(keys);
    return err;
}

/* The stack whose frame is the function, at the instruction that was sampled: the innermost frame,
 * or one that the frames further in were inlined into. */
static uint32_t self_of(const struct yarn_annotation *annotation, uint32_t stack)
{
    const struct yarn_profile *profile = annotation->profile;
    while (stack != YARN_DUMP_NONE) {
        const struct yarn_profile_stack *at = &profile->stacks[stack];
        if (at->function == annotation->function)
            return stack;
        if (!profile->functions[at->function].is_inlined)
            break;
        stack = at->parent;
    }
    return YARN_DUMP_NONE;
}

static void add_selfs(const struct yarn_annotation *annotation, uint32_t event,
                      struct yarn_annotation_sums *sums)
{
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(&annotation->choice, event, &at));) {
        uint32_t stack = self_of(annotation, cell->stack);
        if (stack == YARN_DUMP_NONE)
            continue;
        add_self(&sums->whole, cell);
        if (annotation->instruction_keys[stack] != YARN_DUMP_NONE)
            add_self(&sums->instructions[annotation->instruction_keys[stack]], cell);
        if (annotation->line_keys[stack] != YARN_DUMP_NONE)
            add_self(&sums->lines[annotation->line_keys[stack]], cell);
    }
}

int yarn_annotation_sum(const struct yarn_annotation *annotation, uint32_t event,
                        struct yarn_annotation_sums *ret_sums)
{
    struct yarn_annotation_sums sums = {
        .instructions = calloc(annotation->nr_instructions + 1, sizeof *sums.instructions),
        .lines = calloc(annotation->nr_lines + 1, sizeof *sums.lines),
    };
    struct yarn_stack_sum *stacks = yarn_stack_sums(&annotation->choice, event);
    int err = sums.instructions && sums.lines && stacks ? 0 : -ENOMEM;
    if (!err)
        err = add_whole(annotation, stacks, &sums.whole);
    if (!err)
        err = add_totals(annotation, annotation->instruction_keys, stacks, sums.instructions);
    if (!err)
        err = add_totals(annotation, annotation->line_keys, stacks, sums.lines);
    free(stacks);
    if (err) {
        yarn_annotation_sums_fini(&sums);
        return err;
    }
    add_selfs(annotation, event, &sums);
    *ret_sums = sums;
    return 0;
}

/* Each function once, although it may have been inlined into itself. */
static void add_self_of_chain(const struct yarn_profile *profile, const struct yarn_cell *cell,
                              struct yarn_annotation_sum *selfs)
{
    bool is_whole = false;
    for (uint32_t at = cell->stack; at != YARN_DUMP_NONE && !is_whole;
         at = profile->stacks[at].parent) {
        uint32_t function = profile->stacks[at].function;
        uint32_t inner = cell->stack;
        while (profile->stacks[inner].function != function)
            inner = profile->stacks[inner].parent;
        if (inner == at)
            add_self(&selfs[function], cell);
        is_whole = !profile->functions[function].is_inlined;
    }
}

int yarn_annotation_selfs(const struct yarn_choice *choice, uint32_t event,
                          struct yarn_annotation_sum **ret_selfs)
{
    const struct yarn_profile *profile = choice->profile;
    const struct yarn_cell *cell;
    struct yarn_annotation_sum *selfs = calloc(profile->nr_functions + 1, sizeof *selfs);
    if (!selfs)
        return -ENOMEM;
    for (size_t at = 0; (cell = yarn_choice_next(choice, event, &at));)
        add_self_of_chain(profile, cell, selfs);
    *ret_selfs = selfs;
    return 0;
}

void yarn_annotation_sums_fini(struct yarn_annotation_sums *sums)
{
    free(sums->instructions);
    free(sums->lines);
    *sums = (struct yarn_annotation_sums){0};
}
