/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/tree.h"

#include <stdlib.h>

#include "output/base/array.h"

/* ---- nodes ---- */

/* The node becomes the first child of `parent` (YARN_DUMP_NONE: a root). */
static int add_node(struct yarn_tree *tree, uint32_t parent, uint32_t function, uint32_t event,
                    uint32_t *ret_node)
{
    if (YARN_ARRAY_RESERVE(&tree->nodes, &tree->capacity, tree->count + 1))
        return -ENOMEM;
    uint32_t number = (uint32_t)tree->count++;
    struct yarn_tree_node *node = &tree->nodes[number];
    *node = (struct yarn_tree_node){
        .function = function,
        .event = event,
        .parent = parent,
        .first_child = YARN_DUMP_NONE,
        .next_sibling = YARN_DUMP_NONE,
    };
    if (parent != YARN_DUMP_NONE) {
        node->depth = tree->nodes[parent].depth + 1;
        node->next_sibling = tree->nodes[parent].first_child;
        tree->nodes[parent].first_child = number;
    }
    *ret_node = number;
    return 0;
}

struct order {
    const struct yarn_tree *tree;
    const struct yarn_profile *profile;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct order *order = context;
    const struct yarn_tree_node *one = &order->tree->nodes[*(const uint32_t *)a];
    const struct yarn_tree_node *other = &order->tree->nodes[*(const uint32_t *)b];
    if (one->parent != other->parent)
        return one->parent < other->parent ? -1 : 1;
    if (one->function == YARN_DUMP_NONE || other->function == YARN_DUMP_NONE)
        return one->event < other->event ? -1 : one->event > other->event;
    if (one->total != other->total)
        return one->total > other->total ? -1 : 1;
    const struct yarn_profile_function *functions = order->profile->functions;
    int names = strcmp(yarn_profile_text(order->profile, functions[one->function].name),
                       yarn_profile_text(order->profile, functions[other->function].name));
    if (names)
        return names;
    return one->function < other->function ? -1 : one->function > other->function;
}

/* Links the nodes in the order of the list: siblings lie together there. */
static void link_nodes(struct yarn_tree *tree, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < tree->count; i++)
        tree->nodes[i].first_child = YARN_DUMP_NONE;
    for (size_t i = count; i-- > 0;) {
        struct yarn_tree_node *node = &tree->nodes[list[i]];
        bool has_next = i + 1 < count && tree->nodes[list[i + 1]].parent == node->parent;
        node->next_sibling = has_next ? list[i + 1] : YARN_DUMP_NONE;
        if (node->parent != YARN_DUMP_NONE)
            tree->nodes[node->parent].first_child = list[i];
    }
}

static bool is_kept(const struct yarn_tree_node *node, const struct yarn_profile *profile,
                    double min_percent)
{
    double least = min_percent / 100 * (double)profile->events[node->event].total;
    return node->parent == YARN_DUMP_NONE || (double)node->total >= least;
}

static int sort(struct yarn_tree *tree, const struct yarn_profile *profile, double min_percent)
{
    struct order order = {tree, profile};
    size_t count = 0;
    if (!tree->count)
        return 0;
    uint32_t *list = calloc(tree->count, sizeof *list);
    if (!list)
        return -ENOMEM;
    for (size_t i = 0; i < tree->count; i++) {
        if (is_kept(&tree->nodes[i], profile, min_percent))
            list[count++] = (uint32_t)i;
    }
    qsort_r(list, count, sizeof *list, compare, &order);
    link_nodes(tree, list, count);
    free(list);
    return 0;
}

uint32_t yarn_tree_next(const struct yarn_tree *tree, uint32_t node)
{
    if (tree->nodes[node].first_child != YARN_DUMP_NONE)
        return tree->nodes[node].first_child;
    while (node != YARN_DUMP_NONE && tree->nodes[node].next_sibling == YARN_DUMP_NONE)
        node = tree->nodes[node].parent;
    return node == YARN_DUMP_NONE ? node : tree->nodes[node].next_sibling;
}

void yarn_tree_fini(struct yarn_tree *tree)
{
    free(tree->nodes);
    *tree = (struct yarn_tree){0};
}

/* ---- from node to node ---- */

/*
 * An item is what has come to a node by one frame: top-down all that is on one stack, bottom-up the
 * samples of one cell. From a node its items go on, top-down to the stacks that they call,
 * bottom-up to their callers, and items that come to one function are a node again. A node below
 * the least total is not made, nor what is behind it.
 */

/* Bottom-up. */
struct item {
    struct yarn_sum sum;
    uint32_t stack; /* of the frame that it has come to; YARN_DUMP_NONE: it has passed the root */
    uint32_t root;  /* pseudo-function of the missing root side; YARN_DUMP_NONE: none, or passed */
};

/* Items that have come to one function below one node. */
struct bucket {
    struct yarn_sum total, self;
    uint32_t first; /* item; YARN_DUMP_NONE: there is none. The others follow by `next` */
};

/* A node whose items are still to go on. */
struct open_node {
    uint32_t node;
    uint32_t first; /* item */
};

struct builder {
    struct yarn_choice choice;                  /* borrowed; top-down of one root at a time */
    const struct yarn_profile *profile;         /* the choice's */
    const struct yarn_callers_options *callers; /* NULL: top-down */
    double min_percent;
    struct yarn_tree tree;
    struct bucket *buckets; /* owned; by function */
    uint32_t *touched;      /* owned: functions whose bucket is not empty */
    size_t nr_touched;
    uint32_t *next; /* owned, of each item: of its caller's callees and, later, of its bucket */
    size_t next_capacity;
    struct open_node *open; /* owned array */
    size_t nr_open, open_capacity;
    /* Top-down, owned, by stack: */
    struct yarn_sum *sums;
    uint32_t *callees; /* the first stack that this one calls */
    /* Bottom-up: */
    struct item *items; /* owned array */
    size_t nr_items, items_capacity;
};

static void builder_fini(struct builder *builder)
{
    free(builder->buckets);
    free(builder->touched);
    free(builder->next);
    free(builder->open);
    free(builder->sums);
    free(builder->callees);
    free(builder->items);
}

static int builder_init(struct builder *builder)
{
    const struct yarn_profile *profile = builder->profile;
    builder->buckets = calloc(profile->nr_functions + 1, sizeof *builder->buckets);
    builder->touched = calloc(profile->nr_functions + 1, sizeof *builder->touched);
    for (size_t i = 0; builder->buckets && i < profile->nr_functions; i++)
        builder->buckets[i].first = YARN_DUMP_NONE;
    return builder->buckets && builder->touched ? 0 : -ENOMEM;
}

static void add_total(struct yarn_tree_node *node, const struct yarn_sum *sum)
{
    node->total += sum->weight;
    node->total_samples += sum->samples;
}

/* `self`: what of it ends there. */
static void put(struct builder *builder, uint32_t function, uint32_t item,
                const struct yarn_sum *sum, const struct yarn_sum *self)
{
    struct bucket *bucket = &builder->buckets[function];
    if (bucket->first == YARN_DUMP_NONE)
        builder->touched[builder->nr_touched++] = function;
    builder->next[item] = bucket->first;
    bucket->first = item;
    yarn_sum_add(&bucket->total, sum);
    yarn_sum_add(&bucket->self, self);
}

static int take_bucket(struct builder *builder, uint32_t parent, uint32_t function)
{
    struct bucket bucket = builder->buckets[function];
    uint32_t event = builder->tree.nodes[parent].event, number;
    double least = builder->min_percent / 100 * (double)builder->profile->events[event].total;
    builder->buckets[function] = (struct bucket){.first = YARN_DUMP_NONE};
    if ((double)bucket.total.weight < least)
        return 0;
    int err = add_node(&builder->tree, parent, function, event, &number);
    if (err)
        return err;
    struct yarn_tree_node *node = &builder->tree.nodes[number];
    add_total(node, &bucket.total);
    node->self = bucket.self.weight;
    node->samples = bucket.self.samples;
    return YARN_ARRAY_PUT(&builder->open, &builder->nr_open, &builder->open_capacity,
                          &(struct open_node){number, bucket.first});
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *one = a, *other = b;
    return *one < *other ? -1 : *one > *other;
}

static int take_buckets(struct builder *builder, uint32_t parent)
{
    int err = 0;
    if (builder->callers)
        qsort(builder->touched, builder->nr_touched, sizeof *builder->touched, by_number);
    for (size_t i = 0; !err && i < builder->nr_touched; i++)
        err = take_bucket(builder, parent, builder->touched[i]);
    builder->nr_touched = 0;
    return err;
}

/* ---- top-down ---- */

/* To a list of stacks, whose samples do not end in the node before. */
static void go_in(struct builder *builder, uint32_t node, uint32_t first)
{
    for (uint32_t stack = first, next; stack != YARN_DUMP_NONE; stack = next) {
        const struct yarn_sum *sum = &builder->sums[stack];
        next = builder->next[stack];
        put(builder, builder->profile->stacks[stack].function, stack, sum, sum);
        builder->tree.nodes[node].self -= sum->weight;
        builder->tree.nodes[node].samples -= sum->samples;
    }
}

static int make_room(struct builder *builder)
{
    size_t count = builder->profile->nr_stacks + 1;
    if (!builder->callees)
        builder->callees = calloc(count, sizeof *builder->callees);
    return builder->callees && !YARN_ARRAY_RESERVE(&builder->next, &builder->next_capacity, count)
               ? 0
               : -ENOMEM;
}

/* ---- bottom-up ---- */

/* The innermost frame of the stack to start from; YARN_DUMP_NONE: the stack has none. */
static uint32_t start_of(const struct builder *builder, uint32_t stack)
{
    const uint8_t *starts = builder->callers->starts;
    while (starts && stack != YARN_DUMP_NONE && !starts[builder->profile->stacks[stack].function])
        stack = builder->profile->stacks[stack].parent;
    return stack;
}

static uint32_t function_of(const struct builder *builder, const struct item *item)
{
    return item->stack != YARN_DUMP_NONE ? builder->profile->stacks[item->stack].function
                                         : item->root;
}

/* To the caller's frame, or to what stands for a missing root side. */
static void go_out(struct builder *builder, uint32_t number)
{
    static const struct yarn_sum nothing;
    struct item *item = &builder->items[number];
    if (item->stack != YARN_DUMP_NONE)
        item->stack = builder->profile->stacks[item->stack].parent;
    else
        item->root = YARN_DUMP_NONE;
    uint32_t function = function_of(builder, item);
    if (function != YARN_DUMP_NONE)
        put(builder, function, number, &item->sum, &nothing);
}

/* The samples of each cell, where they start. */
static int start_items(struct builder *builder, uint32_t node)
{
    static const struct yarn_sum nothing;
    uint32_t event = builder->tree.nodes[node].event;
    const struct yarn_cell *cell;
    builder->nr_items = 0;
    for (size_t at = 0; (cell = yarn_choice_next(&builder->choice, event, &at));) {
        struct item item = {
            .sum = yarn_sum_of(cell),
            .stack = start_of(builder, cell->stack),
            .root = yarn_profile_root_of(cell->stack, cell->stack_end),
        };
        uint32_t number = (uint32_t)builder->nr_items;
        if (item.stack == YARN_DUMP_NONE && builder->callers->starts)
            continue;
        if (YARN_ARRAY_PUT(&builder->items, &builder->nr_items, &builder->items_capacity, &item) ||
            YARN_ARRAY_RESERVE(&builder->next, &builder->next_capacity, builder->nr_items))
            return -ENOMEM;
        add_total(&builder->tree.nodes[node], &item.sum);
        put(builder, function_of(builder, &item), number, &item.sum,
            item.stack == cell->stack ? &item.sum : &nothing);
    }
    return 0;
}

/* ---- both ---- */

/* From a node on, whose items are in the buckets: what is left out is never made. */
static int grow(struct builder *builder, uint32_t node)
{
    int err = take_buckets(builder, node);
    while (!err && builder->nr_open) {
        struct open_node open = builder->open[--builder->nr_open];
        for (uint32_t item = open.first, next; item != YARN_DUMP_NONE; item = next) {
            next = builder->next[item];
            if (builder->callers)
                go_out(builder, item);
            else
                go_in(builder, open.node, builder->callees[item]);
        }
        err = take_buckets(builder, open.node);
    }
    return err;
}

/* Stacks with one kind of root side: below the pseudo-function for it, if there is one. */
static int add_root(struct builder *builder, uint32_t event_node, uint32_t root)
{
    uint32_t event = builder->tree.nodes[event_node].event, top = event_node;
    builder->choice.root = root;
    free(builder->sums);
    builder->sums = yarn_stack_sums(&builder->choice, event);
    if (!builder->sums)
        return -ENOMEM;
    struct yarn_sum all = builder->sums[builder->profile->nr_stacks];
    if (!all.samples)
        return 0;
    add_total(&builder->tree.nodes[event_node], &all);
    if (root != YARN_DUMP_NONE) {
        int err = add_node(&builder->tree, event_node, root, event, &top);
        if (err)
            return err;
        add_total(&builder->tree.nodes[top], &all);
    }
    builder->tree.nodes[top].self += all.weight;
    builder->tree.nodes[top].samples += all.samples;
    go_in(builder, top,
          yarn_stacks_link(builder->profile, builder->sums, builder->callees, builder->next));
    return grow(builder, top);
}

static int add_event(struct builder *builder, uint32_t event)
{
    static const uint32_t roots[] = {YARN_DUMP_NONE, YARN_FUNCTION_TRUNCATED,
                                     YARN_FUNCTION_NO_UNWIND_INFO, YARN_FUNCTION_FAILED,
                                     YARN_FUNCTION_NO_STACK};
    uint32_t node;
    int err = add_node(&builder->tree, YARN_DUMP_NONE, YARN_DUMP_NONE, event, &node);
    if (!err && builder->callers) {
        err = start_items(builder, node);
        return err ? err : grow(builder, node);
    }
    if (!err)
        err = make_room(builder);
    for (size_t i = 0; !err && i < YARN_COUNT_OF(roots); i++)
        err = add_root(builder, node, roots[i]);
    return err;
}

static int build(struct builder *builder, struct yarn_tree *ret_tree)
{
    const struct yarn_profile *profile = builder->profile;
    int err = builder_init(builder);
    for (uint32_t event = 0; !err && event < profile->nr_events; event++)
        if (builder->choice.events[event] && profile->events[event].samples)
            err = add_event(builder, event);
    if (!err)
        err = sort(&builder->tree, profile, builder->min_percent);
    builder_fini(builder);
    if (err)
        yarn_tree_fini(&builder->tree);
    else
        *ret_tree = builder->tree;
    return err;
}

int yarn_tree_build(const struct yarn_choice *choice, double min_percent,
                    struct yarn_tree *ret_tree)
{
    struct builder builder = {
        .choice = *choice, .profile = choice->profile, .min_percent = min_percent};
    return build(&builder, ret_tree);
}

int yarn_callers_build(const struct yarn_choice *choice, const struct yarn_callers_options *options,
                       struct yarn_tree *ret_tree)
{
    struct builder builder = {
        .choice = *choice,
        .profile = choice->profile,
        .callers = options,
        .min_percent = options->min_percent,
    };
    return build(&builder, ret_tree);
}
