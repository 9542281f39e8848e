/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/fold/tree.h"
#include "output/store/array.h"

/* A run of samples on its way outwards: where it has come to. */
struct item {
    uint64_t weight;
    uint64_t samples;
    uint32_t stack; /* of the frame that it has come to; YARN_DUMP_NONE: it has passed the root */
    uint32_t root;  /* pseudo-function of the missing root side; YARN_DUMP_NONE: none, or passed */
    uint32_t function; /* of the frame that it has come to */
    bool is_self;      /* the frame is the leaf */
};

/* Items [begin, end) have come to `node`. */
struct group {
    size_t begin, end;
    uint32_t node;
};

struct builder {
    const struct yarn_choice *choice;
    const struct yarn_profile *profile; /* the choice's */
    const struct yarn_callers_options *options;
    struct yarn_tree *tree;
    struct item *items; /* owned array, of one event */
    size_t nr_items, items_capacity;
    struct group *groups; /* owned array: still to be followed outwards */
    size_t nr_groups, groups_capacity;
};

/* The innermost frame of the stack to start from; YARN_DUMP_NONE: the stack has none. */
static uint32_t start_of(const struct builder *builder, uint32_t stack)
{
    const uint8_t *starts = builder->options->starts;
    while (starts && stack != YARN_DUMP_NONE && !starts[builder->profile->stacks[stack].function])
        stack = builder->profile->stacks[stack].parent;
    return stack;
}

static int add_item(struct builder *builder, const struct yarn_cell *cell)
{
    struct item item = {
        .weight = cell->weight,
        .samples = cell->samples,
        .stack = start_of(builder, cell->stack),
        .root = YARN_DUMP_NONE,
        .function = YARN_FUNCTION_NO_STACK,
    };
    if (item.stack != YARN_DUMP_NONE) {
        item.function = builder->profile->stacks[item.stack].function;
        item.root = yarn_profile_root_of(cell->stack, cell->stack_end);
    } else if (builder->options->starts) {
        return 0;
    }
    item.is_self = item.stack == cell->stack;
    return YARN_ARRAY_PUT(&builder->items, &builder->nr_items, &builder->items_capacity, &item);
}

static int gather(struct builder *builder, uint32_t event)
{
    const struct yarn_cell *cell;
    int err = 0;
    builder->nr_items = 0;
    for (size_t at = 0; !err && (cell = yarn_choice_next(builder->choice, event, &at));)
        err = add_item(builder, cell);
    return err;
}

static int by_function(const void *a, const void *b)
{
    const struct item *one = a, *other = b;
    return one->function < other->function ? -1 : one->function > other->function;
}

static int push(struct builder *builder, struct group group)
{
    return YARN_ARRAY_PUT(&builder->groups, &builder->nr_groups, &builder->groups_capacity, &group);
}

/* Items [begin, end) of one function become a node below `parent`. */
static int add_node(struct builder *builder, uint32_t parent, size_t begin, size_t end)
{
    const struct yarn_profile *profile = builder->profile;
    struct yarn_tree_node sum = {0};
    for (size_t i = begin; i < end; i++) {
        const struct item *item = &builder->items[i];
        sum.total += item->weight;
        sum.total_samples += item->samples;
        sum.self += item->is_self ? item->weight : 0;
        sum.samples += item->is_self ? item->samples : 0;
    }
    uint32_t event = builder->tree->nodes[parent].event, number;
    double least = builder->options->min_percent / 100 * (double)profile->events[event].total;
    if ((double)sum.total < least)
        return 0;
    int err = yarn_tree_add(builder->tree, parent, builder->items[begin].function, event, &number);
    if (err)
        return err;
    struct yarn_tree_node *node = &builder->tree->nodes[number];
    node->self = sum.self;
    node->samples = sum.samples;
    node->total = sum.total;
    node->total_samples = sum.total_samples;
    return push(builder, (struct group){begin, end, number});
}

/* Brings items of [begin, end) together by the function that they have come to. */
static int split(struct builder *builder, uint32_t parent, size_t begin, size_t end)
{
    if (begin == end)
        return 0;
    qsort(&builder->items[begin], end - begin, sizeof *builder->items, by_function);
    size_t from = begin;
    for (size_t i = begin + 1; i <= end; i++) {
        if (i < end && builder->items[i].function == builder->items[from].function)
            continue;
        int err = add_node(builder, parent, from, i);
        if (err)
            return err;
        from = i;
    }
    return 0;
}

/* To the caller's frame, or to what stands for a missing root side. False: there is no more. */
static bool step(const struct builder *builder, struct item *item)
{
    item->is_self = false;
    if (item->stack != YARN_DUMP_NONE)
        item->stack = builder->profile->stacks[item->stack].parent;
    else
        item->root = YARN_DUMP_NONE;
    item->function =
        item->stack != YARN_DUMP_NONE ? builder->profile->stacks[item->stack].function : item->root;
    return item->function != YARN_DUMP_NONE;
}

static int follow(struct builder *builder, struct group group)
{
    size_t kept = group.begin;
    for (size_t i = group.begin; i < group.end; i++) {
        struct item item = builder->items[i];
        if (step(builder, &item))
            builder->items[kept++] = item;
    }
    return split(builder, group.node, group.begin, kept);
}

static int add_event(void *self, uint32_t event)
{
    struct builder *builder = self;
    uint32_t node;
    int err = gather(builder, event);
    if (!err)
        err = yarn_tree_add(builder->tree, YARN_DUMP_NONE, YARN_DUMP_NONE, event, &node);
    if (err)
        return err;
    for (size_t i = 0; i < builder->nr_items; i++) {
        builder->tree->nodes[node].total += builder->items[i].weight;
        builder->tree->nodes[node].total_samples += builder->items[i].samples;
    }
    err = split(builder, node, 0, builder->nr_items);
    while (!err && builder->nr_groups)
        err = follow(builder, builder->groups[--builder->nr_groups]);
    return err;
}

int yarn_callers_build(const struct yarn_choice *choice, const struct yarn_callers_options *options,
                       struct yarn_tree *ret_tree)
{
    struct yarn_tree tree = {0};
    struct builder builder = {choice, choice->profile, options, .tree = &tree};
    int err = yarn_tree_fill(&tree, choice, options->min_percent, add_event, &builder);
    free(builder.items);
    free(builder.groups);
    if (!err)
        *ret_tree = tree;
    return err;
}
