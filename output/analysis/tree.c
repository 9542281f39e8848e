/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/tree.h"

#include <stdlib.h>

#include "output/analysis/stack_sums.h"

struct builder {
    const struct yarn_profile *profile;
    struct yarn_tree *tree;
    struct yarn_table children; /* (parent, function) to node */
    uint8_t *events, *threads;  /* owned: what passes the filter */
    uint8_t *stacks;            /* owned; NULL: all pass */
    uint32_t *node_of;          /* owned: by stack, valid within one root */
};

static void builder_fini(struct builder *builder)
{
    free(builder->events);
    free(builder->threads);
    free(builder->stacks);
    free(builder->node_of);
    yarn_table_close(&builder->children);
}

static int choose_stacks(struct builder *builder, const struct yarn_filter *filter)
{
    if (!yarn_filter_is_by_function(filter))
        return 0;
    uint8_t *functions = yarn_filter_functions(filter, builder->profile);
    if (!functions)
        return -ENOMEM;
    builder->stacks = yarn_stacks_with(builder->profile, functions);
    free(functions);
    return builder->stacks ? 0 : -ENOMEM;
}

static int builder_init(struct builder *builder, const struct yarn_profile *profile,
                        const struct yarn_filter *filter, struct yarn_tree *tree)
{
    *builder = (struct builder){
        .profile = profile,
        .tree = tree,
        .children = YARN_TABLE_CLOSED,
        .events = yarn_filter_events(filter, profile),
        .threads = yarn_filter_threads(filter, profile),
        .node_of = calloc(profile->nr_stacks + 1, sizeof *builder->node_of),
    };
    int err = builder->events && builder->threads && builder->node_of ? 0 : -ENOMEM;
    if (!err)
        err = choose_stacks(builder, filter);
    if (!err)
        err = yarn_table_open(&builder->children, 1024, (size_t)1 << 31);
    if (err)
        builder_fini(builder);
    return err;
}

static int child_of(struct builder *builder, uint32_t parent, uint32_t function, uint32_t *ret_node)
{
    uint64_t key = (uint64_t)parent << 32 | function;
    uint32_t found = yarn_table_find(&builder->children, key);
    if (found != YARN_TABLE_NONE) {
        *ret_node = found;
        return 0;
    }
    uint32_t event = builder->tree->nodes[parent].event;
    int err = yarn_tree_add(builder->tree, parent, function, event, ret_node);
    return err ? err : yarn_table_put(&builder->children, key, *ret_node);
}

static void add_total(struct yarn_tree_node *node, uint64_t total, uint64_t samples)
{
    node->total += total;
    node->total_samples += samples;
}

static int add_stacks(struct builder *builder, uint32_t top, const struct yarn_stack_sum *sums)
{
    const struct yarn_profile *profile = builder->profile;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &profile->stacks[i];
        if (!sums[i].samples)
            continue;
        uint32_t parent = stack->parent == YARN_DUMP_NONE ? top : builder->node_of[stack->parent];
        int err = child_of(builder, parent, stack->function, &builder->node_of[i]);
        if (err)
            return err;
        struct yarn_tree_node *node = &builder->tree->nodes[builder->node_of[i]];
        add_total(node, sums[i].total, sums[i].samples);
        if (profile->frames[stack->frame].flags & YARN_DUMP_FRAME_JOINED)
            node->joined += sums[i].total;
    }
    return 0;
}

static void add_leaves(struct builder *builder, const struct yarn_stack_choice *choice)
{
    for (size_t i = 0; i < builder->profile->cells.count; i++) {
        const struct yarn_cell *cell = &builder->profile->cells.cells[i];
        if (cell->stack == YARN_DUMP_NONE || !yarn_stack_choice_has(choice, cell))
            continue;
        struct yarn_tree_node *node = &builder->tree->nodes[builder->node_of[cell->stack]];
        node->self += cell->weight;
        node->samples += cell->samples;
    }
}

/* Sum of the chosen samples with a stack, or of those without one. */
static struct yarn_stack_sum sum_of(const struct builder *builder,
                                    const struct yarn_stack_choice *choice, bool has_stack)
{
    struct yarn_stack_sum sum = {0};
    for (size_t i = 0; i < builder->profile->cells.count; i++) {
        const struct yarn_cell *cell = &builder->profile->cells.cells[i];
        if ((cell->stack != YARN_DUMP_NONE) != has_stack || !yarn_stack_choice_has(choice, cell))
            continue;
        sum.total += cell->weight;
        sum.samples += cell->samples;
    }
    return sum;
}

/* Stacks with one kind of root side: below the pseudo-function for it, if there is one. */
static int add_root(struct builder *builder, uint32_t event_node, uint32_t root)
{
    uint32_t event = builder->tree->nodes[event_node].event;
    struct yarn_stack_choice choice = {event, builder->threads, builder->stacks, true, root};
    struct yarn_stack_sum all = sum_of(builder, &choice, true);
    uint32_t top = event_node;
    if (!all.samples)
        return 0;
    add_total(&builder->tree->nodes[event_node], all.total, all.samples);
    if (root != YARN_DUMP_NONE) {
        int err = child_of(builder, event_node, root, &top);
        if (err)
            return err;
        add_total(&builder->tree->nodes[top], all.total, all.samples);
    }
    struct yarn_stack_sum *sums = yarn_stack_sums(builder->profile, &choice);
    if (!sums)
        return -ENOMEM;
    int err = add_stacks(builder, top, sums);
    if (!err)
        add_leaves(builder, &choice);
    free(sums);
    return err;
}

static int add_stackless(struct builder *builder, uint32_t event_node)
{
    struct yarn_stack_choice choice = {
        .event = builder->tree->nodes[event_node].event,
        .threads = builder->threads,
        .stacks = builder->stacks,
    };
    struct yarn_stack_sum all = sum_of(builder, &choice, false);
    uint32_t number;
    if (!all.samples)
        return 0;
    int err = child_of(builder, event_node, YARN_FUNCTION_NO_STACK, &number);
    if (err)
        return err;
    struct yarn_tree_node *node = &builder->tree->nodes[number];
    add_total(node, all.total, all.samples);
    node->self += all.total;
    node->samples += all.samples;
    add_total(&builder->tree->nodes[event_node], all.total, all.samples);
    return 0;
}

static int add_event(struct builder *builder, uint32_t event)
{
    static const uint32_t roots[] = {YARN_DUMP_NONE, YARN_FUNCTION_TRUNCATED,
                                     YARN_FUNCTION_NO_UNWIND_INFO, YARN_FUNCTION_FAILED};
    uint32_t node;
    int err = yarn_tree_add(builder->tree, YARN_DUMP_NONE, YARN_DUMP_NONE, event, &node);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(roots); i++)
        err = add_root(builder, node, roots[i]);
    return err ? err : add_stackless(builder, node);
}

int yarn_tree_build(const struct yarn_profile *profile, const struct yarn_filter *filter,
                    double min_percent, struct yarn_tree *ret_tree)
{
    struct yarn_tree tree = {0};
    struct builder builder;
    int err = builder_init(&builder, profile, filter, &tree);
    if (err)
        return err;
    for (uint32_t event = 0; !err && event < profile->nr_events; event++) {
        if (builder.events[event] && profile->events[event].samples)
            err = add_event(&builder, event);
    }
    builder_fini(&builder);
    if (!err)
        err = yarn_tree_sort(&tree, profile, min_percent);
    if (err) {
        yarn_tree_fini(&tree);
        return err;
    }
    *ret_tree = tree;
    return 0;
}
