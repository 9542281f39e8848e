/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "output/fold/choice.h"
#include "output/fold/tree.h"
#include "output/store/array.h"

int yarn_tree_add(struct yarn_tree *tree, uint32_t parent, uint32_t function, uint32_t event,
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

int yarn_tree_fill(struct yarn_tree *tree, const struct yarn_choice *choice, double min_percent,
                   int (*add_event)(void *builder, uint32_t event), void *builder)
{
    const struct yarn_profile *profile = choice->profile;
    int err = 0;
    for (uint32_t event = 0; !err && event < profile->nr_events; event++) {
        if (choice->events[event] && profile->events[event].samples)
            err = add_event(builder, event);
    }
    if (!err)
        err = sort(tree, profile, min_percent);
    if (err)
        yarn_tree_fini(tree);
    return err;
}
