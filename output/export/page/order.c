/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/order.h"

#include <stdlib.h>

struct key {
    const struct yarn_match_function *function;
    uint64_t self;
    uint32_t number;
    bool is_used;
};

static int used_then_self_then_name(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    if (a->is_used != b->is_used)
        return a->is_used ? -1 : 1;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    int names = strcmp(a->function->name, b->function->name);
    if (!names)
        names = strcmp(a->function->module, b->function->module);
    return names ? names : a->number < b->number ? -1 : 1;
}

static struct key *keys_of(const struct yarn_page_graph *graph)
{
    struct key *keys = calloc(graph->match.count + 1, sizeof *keys);
    if (!keys)
        return NULL;
    for (uint32_t i = 0; i < graph->match.count; i++)
        keys[i] = (struct key){.function = &graph->match.functions[i], .number = i};
    for (size_t i = 1; i < graph->nodes.count; i++)
        keys[graph->nodes.list[i].key].is_used = true;
    for (size_t i = 0; i < graph->nr_cells && graph->cells[i].event == 0; i++) {
        uint32_t node = graph->leaves[graph->cells[i].leaf];
        if (node)
            keys[graph->nodes.list[node].key].self += graph->cells[i].weight;
    }
    qsort(keys, graph->match.count, sizeof *keys, used_then_self_then_name);
    return keys;
}

static int fill(struct yarn_page_order *order, const struct key *keys, size_t count)
{
    for (size_t i = 0; i < count && keys[i].is_used; i++) {
        order->functions[i] = keys[i].number;
        order->places[keys[i].number] = (uint32_t)i;
        int err = yarn_strings_intern(&order->modules, yarn_span_of_text(keys[i].function->module),
                                      &order->module_of[i]);
        if (err)
            return err;
        order->nr_functions++;
    }
    return 0;
}

int yarn_page_order_build(const struct yarn_page_graph *graph, struct yarn_page_order *ret_order)
{
    size_t count = graph->match.count;
    struct yarn_page_order order = {
        .functions = calloc(count + 1, sizeof *order.functions),
        .places = calloc(count + 1, sizeof *order.places),
        .module_of = calloc(count + 1, sizeof *order.module_of),
    };
    struct key *keys = keys_of(graph);
    int err = yarn_strings_init(&order.modules);
    if (!err && !(order.functions && order.places && order.module_of && keys))
        err = -ENOMEM;
    if (!err)
        err = fill(&order, keys, count);
    free(keys);
    if (err) {
        yarn_page_order_fini(&order);
        return err;
    }
    *ret_order = order;
    return 0;
}

void yarn_page_order_fini(struct yarn_page_order *order)
{
    free(order->functions);
    free(order->places);
    free(order->module_of);
    yarn_strings_fini(&order->modules);
    *order = (struct yarn_page_order){.modules.index = YARN_TABLE_CLOSED};
}
