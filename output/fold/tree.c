/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/tree.h"

#include <stdlib.h>

#include "output/fold/stack_sums.h"
#include "output/store/array.h"

/* Stacks of one function below one node: they become a node. */
struct bucket {
    uint64_t total, samples;
    uint32_t first; /* stack; YARN_DUMP_NONE: there is none. The others follow by `next` */
};

/* A node whose stacks' callees are still to be followed. */
struct open_node {
    uint32_t node;
    uint32_t first; /* stack */
};

struct builder {
    struct yarn_choice choice;          /* borrowed; of one root at a time */
    const struct yarn_profile *profile; /* the choice's */
    struct yarn_tree *tree;
    double min_percent;
    /* Owned, by stack, valid within one root: */
    uint32_t *node_of;      /* YARN_DUMP_NONE: none, or below the least */
    uint32_t *callees;      /* the first stack that this one calls */
    uint32_t *next;         /* of its caller's callees and, later, of its bucket */
    struct bucket *buckets; /* owned; by function */
    uint32_t *touched;      /* owned: functions whose bucket is not empty */
    size_t nr_touched;
    struct open_node *open; /* owned array */
    size_t nr_open, open_capacity;
};

static void builder_fini(struct builder *builder)
{
    free(builder->node_of);
    free(builder->callees);
    free(builder->next);
    free(builder->buckets);
    free(builder->touched);
    free(builder->open);
}

static int builder_init(struct builder *builder, const struct yarn_choice *choice,
                        double min_percent, struct yarn_tree *tree)
{
    const struct yarn_profile *profile = choice->profile;
    *builder = (struct builder){
        .choice = *choice,
        .profile = profile,
        .tree = tree,
        .min_percent = min_percent,
        .node_of = calloc(profile->nr_stacks + 1, sizeof *builder->node_of),
        .callees = calloc(profile->nr_stacks + 1, sizeof *builder->callees),
        .next = calloc(profile->nr_stacks + 1, sizeof *builder->next),
        .buckets = calloc(profile->nr_functions + 1, sizeof *builder->buckets),
        .touched = calloc(profile->nr_functions + 1, sizeof *builder->touched),
    };
    bool is_whole = builder->node_of && builder->callees && builder->next && builder->buckets &&
                    builder->touched;
    for (size_t i = 0; is_whole && i < profile->nr_functions; i++)
        builder->buckets[i].first = YARN_DUMP_NONE;
    return is_whole ? 0 : -ENOMEM;
}

static void add_total(struct yarn_tree_node *node, uint64_t total, uint64_t samples)
{
    node->total += total;
    node->total_samples += samples;
}

/* Links each stack that has samples to its caller's; the outermost ones, as a list. */
static uint32_t link_stacks(struct builder *builder, const struct yarn_stack_sum *sums)
{
    uint32_t outermost = YARN_DUMP_NONE;
    size_t nr_stacks = builder->profile->nr_stacks;
    for (size_t i = 0; i < nr_stacks; i++) {
        builder->callees[i] = YARN_DUMP_NONE;
        builder->node_of[i] = YARN_DUMP_NONE;
    }
    for (size_t i = nr_stacks; i-- > 0;) {
        uint32_t parent = builder->profile->stacks[i].parent;
        uint32_t *first = parent == YARN_DUMP_NONE ? &outermost : &builder->callees[parent];
        if (!sums[i].samples)
            continue;
        builder->next[i] = *first;
        *first = (uint32_t)i;
    }
    return outermost;
}

/* Puts a list of stacks into the buckets of their functions. */
static void sort_out(struct builder *builder, uint32_t first, const struct yarn_stack_sum *sums)
{
    const struct yarn_profile *profile = builder->profile;
    for (uint32_t stack = first, next; stack != YARN_DUMP_NONE; stack = next) {
        const struct yarn_profile_stack *is = &profile->stacks[stack];
        struct bucket *bucket = &builder->buckets[is->function];
        if (bucket->first == YARN_DUMP_NONE)
            builder->touched[builder->nr_touched++] = is->function;
        next = builder->next[stack];
        builder->next[stack] = bucket->first;
        bucket->first = stack;
        bucket->total += sums[stack].total;
        bucket->samples += sums[stack].samples;
    }
}

/* The bucket becomes a node; one below the threshold is left out, with all that it calls. */
static int take_bucket(struct builder *builder, uint32_t parent, uint32_t function)
{
    struct bucket bucket = builder->buckets[function];
    uint32_t event = builder->tree->nodes[parent].event, number;
    double least = builder->min_percent / 100 * (double)builder->profile->events[event].total;
    builder->buckets[function] = (struct bucket){.first = YARN_DUMP_NONE};
    if ((double)bucket.total < least)
        return 0;
    int err = yarn_tree_add(builder->tree, parent, function, event, &number);
    if (err)
        return err;
    struct yarn_tree_node *node = &builder->tree->nodes[number];
    add_total(node, bucket.total, bucket.samples);
    return YARN_ARRAY_PUT(&builder->open, &builder->nr_open, &builder->open_capacity,
                          &(struct open_node){number, bucket.first});
}

static int take_buckets(struct builder *builder, uint32_t parent)
{
    int err = 0;
    for (size_t i = 0; !err && i < builder->nr_touched; i++)
        err = take_bucket(builder, parent, builder->touched[i]);
    builder->nr_touched = 0;
    return err;
}

/* From the outside inwards, a node at a time: what is left out is never made. */
static int add_stacks(struct builder *builder, uint32_t top, const struct yarn_stack_sum *sums)
{
    sort_out(builder, link_stacks(builder, sums), sums);
    int err = take_buckets(builder, top);
    while (!err && builder->nr_open) {
        struct open_node open = builder->open[--builder->nr_open];
        for (uint32_t stack = open.first; stack != YARN_DUMP_NONE; stack = builder->next[stack]) {
            builder->node_of[stack] = open.node;
            sort_out(builder, builder->callees[stack], sums);
        }
        err = take_buckets(builder, open.node);
    }
    return err;
}

/* Samples without a stack are those of the top. */
static void add_leaves(struct builder *builder, uint32_t event, uint32_t top)
{
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(&builder->choice, event, &at));) {
        uint32_t number = cell->stack == YARN_DUMP_NONE ? top : builder->node_of[cell->stack];
        if (number == YARN_DUMP_NONE)
            continue;
        builder->tree->nodes[number].self += cell->weight;
        builder->tree->nodes[number].samples += cell->samples;
    }
}

static struct yarn_stack_sum sum_of(const struct builder *builder, uint32_t event)
{
    struct yarn_stack_sum sum = {0};
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(&builder->choice, event, &at));) {
        sum.total += cell->weight;
        sum.samples += cell->samples;
    }
    return sum;
}

/* Stacks with one kind of root side: below the pseudo-function for it, if there is one. */
static int add_root(struct builder *builder, uint32_t event_node, uint32_t root)
{
    uint32_t event = builder->tree->nodes[event_node].event;
    builder->choice.root = root;
    struct yarn_stack_sum all = sum_of(builder, event);
    uint32_t top = event_node;
    if (!all.samples)
        return 0;
    add_total(&builder->tree->nodes[event_node], all.total, all.samples);
    if (root != YARN_DUMP_NONE) {
        int err = yarn_tree_add(builder->tree, event_node, root, event, &top);
        if (err)
            return err;
        add_total(&builder->tree->nodes[top], all.total, all.samples);
    }
    struct yarn_stack_sum *sums = yarn_stack_sums(&builder->choice, event);
    if (!sums)
        return -ENOMEM;
    int err = add_stacks(builder, top, sums);
    if (!err)
        add_leaves(builder, event, top);
    free(sums);
    return err;
}

static int add_event(void *self, uint32_t event)
{
    struct builder *builder = self;
    static const uint32_t roots[] = {YARN_DUMP_NONE, YARN_FUNCTION_TRUNCATED,
                                     YARN_FUNCTION_NO_UNWIND_INFO, YARN_FUNCTION_FAILED,
                                     YARN_FUNCTION_NO_STACK};
    uint32_t node;
    int err = yarn_tree_add(builder->tree, YARN_DUMP_NONE, YARN_DUMP_NONE, event, &node);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(roots); i++)
        err = add_root(builder, node, roots[i]);
    return err;
}

int yarn_tree_build(const struct yarn_choice *choice, double min_percent,
                    struct yarn_tree *ret_tree)
{
    struct yarn_tree tree = {0};
    struct builder builder;
    int err = builder_init(&builder, choice, min_percent, &tree);
    if (!err)
        err = yarn_tree_fill(&tree, choice, min_percent, add_event, &builder);
    builder_fini(&builder);
    if (!err)
        *ret_tree = tree;
    return err;
}
