/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/numbers.h"

#include <math.h>

#include "output/export/page/packed.h"

enum { IS_PSEUDO = 1, IS_KERNEL = 2, IS_NAMELESS = 4, IS_INLINED = 8 };

static unsigned flags_of(const struct yarn_page_graph *graph, uint32_t number)
{
    const struct yarn_match_function *function = &graph->match.functions[number];
    unsigned flags = (function->is_pseudo ? IS_PSEUDO : 0) |
                     (graph->is_kernel[number] ? IS_KERNEL : 0) |
                     (function->is_lump ? IS_NAMELESS : 0);
    for (size_t side = 0; side < 2; side++) {
        const struct yarn_profile *profile = graph->sides[side].profile;
        if (!profile || function->functions[side] == YARN_DUMP_NONE)
            continue;
        const struct yarn_profile_function *one = &profile->functions[function->functions[side]];
        flags |= (one->is_nameless ? IS_NAMELESS : 0) | (one->is_inlined ? IS_INLINED : 0);
    }
    return flags;
}

static void put_functions(const struct yarn_page_graph *graph, const struct yarn_page_order *order,
                          struct yarn_packed *packed)
{
    yarn_packed_number(packed, order->nr_functions);
    for (size_t i = 0; i < order->nr_functions; i++)
        yarn_packed_number(packed, flags_of(graph, order->functions[i]));
    for (size_t i = 0; i < order->nr_functions; i++)
        yarn_packed_number(packed, order->module_of[i]);
}

static void put_nodes(const struct yarn_page_graph *graph, const struct yarn_page_order *order,
                      struct yarn_packed *packed)
{
    yarn_packed_number(packed, graph->nodes.count - 1);
    for (size_t i = 1; i < graph->nodes.count; i++)
        yarn_packed_number(packed, i - graph->nodes.list[i].parent);
    for (size_t i = 1; i < graph->nodes.count; i++)
        yarn_packed_number(packed, order->places[graph->nodes.list[i].key]);
}

static void put_leaves(const struct yarn_page_graph *graph, struct yarn_packed *packed)
{
    int64_t before = 0;
    yarn_packed_number(packed, graph->nr_leaves);
    for (size_t i = 0; i < graph->nr_leaves; i++) {
        yarn_packed_signed(packed, (int64_t)graph->leaves[i] - before);
        before = graph->leaves[i];
    }
}

static size_t end_of_group(const struct yarn_page_graph *graph, size_t begin)
{
    size_t end = begin + 1;
    while (end < graph->nr_cells && graph->cells[end].event == graph->cells[begin].event &&
           graph->cells[end].thread == graph->cells[begin].thread)
        end++;
    return end;
}

/* The weight of each sample; 0 where they differ. */
static uint64_t period_of(const struct yarn_page_cell *cells, size_t count)
{
    uint64_t period = cells[0].weight / cells[0].samples;
    for (size_t i = 0; i < count; i++) {
        if (cells[i].weight != cells[i].samples * period)
            return 0;
    }
    return period;
}

/* Of the samples' weights, each by its weight: with it their squares can be computed. */
static uint64_t mean_of(const struct yarn_page_cell *cell)
{
    return cell->weight ? (uint64_t)llround(cell->squares / (double)cell->weight) : 0;
}

static void put_group(const struct yarn_page_cell *cells, size_t count, struct yarn_packed *packed)
{
    uint64_t period = period_of(cells, count);
    yarn_packed_number(packed, cells[0].event);
    yarn_packed_number(packed, cells[0].thread);
    yarn_packed_number(packed, count);
    yarn_packed_number(packed, period);
    for (size_t i = 0; i < count; i++)
        yarn_packed_number(packed, cells[i].leaf - (i ? cells[i - 1].leaf : 0));
    for (size_t i = 0; i < count; i++) {
        bool is_next = i && cells[i].leaf == cells[i - 1].leaf;
        yarn_packed_number(packed, (uint64_t)cells[i].slice - (is_next ? cells[i - 1].slice : 0));
    }
    for (size_t i = 0; i < count; i++)
        yarn_packed_number(packed, cells[i].samples - 1);
    for (size_t i = 0; !period && i < count; i++)
        yarn_packed_number(packed, cells[i].weight);
    for (size_t i = 0; !period && i < count; i++)
        yarn_packed_number(packed, mean_of(&cells[i]));
}

static void put_groups(const struct yarn_page_graph *graph, struct yarn_packed *packed)
{
    size_t nr_groups = 0;
    for (size_t begin = 0; begin < graph->nr_cells; begin = end_of_group(graph, begin))
        nr_groups++;
    yarn_packed_number(packed, nr_groups);
    for (size_t begin = 0; begin < graph->nr_cells;) {
        size_t end = end_of_group(graph, begin);
        put_group(graph->cells + begin, end - begin, packed);
        begin = end;
    }
}

uint32_t yarn_page_numbers_slices(const struct yarn_page_graph *graph)
{
    uint32_t most = 1;
    for (size_t i = 0; i < graph->nr_cells; i++)
        most = graph->cells[i].slice >= most ? graph->cells[i].slice + 1u : most;
    return graph->sched ? yarn_slices_shown(graph->sides[1].slices) : most;
}

uint64_t yarn_page_numbers_first_ns(const struct yarn_page_graph *graph)
{
    const struct yarn_slices *slices = graph->sides[1].slices;
    return (slices->base + yarn_slices_first(slices)) << slices->shift;
}

/* When the first slice begins, after the start of the recording; two have no time in common. */
static int64_t start_of(const struct yarn_page_graph *graph)
{
    uint64_t first_ns = yarn_page_numbers_first_ns(graph);
    uint64_t start_ns = graph->sides[1].profile->start_ns;
    return graph->sides[0].profile ? 0 : (int64_t)(first_ns - start_ns);
}

void yarn_page_numbers_write(const struct yarn_page_graph *graph,
                             const struct yarn_page_order *order, FILE *file)
{
    struct yarn_packed packed = {.file = file};
    yarn_packed_number(&packed, graph->sides[1].slices->shift);
    yarn_packed_number(&packed, yarn_page_numbers_slices(graph));
    yarn_packed_signed(&packed, start_of(graph));
    yarn_packed_number(&packed, graph->sides[0].profile ? 1 : 0);
    for (size_t side = 0; side < 2; side++)
        yarn_packed_number(&packed, graph->is_by_runs ? graph->clusters[side].count : 0);
    for (size_t side = 0; side < 2; side++)
        yarn_packed_number(&packed, yarn_size_max(graph->clusters[side].nr_runs, 1));
    put_functions(graph, order, &packed);
    put_nodes(graph, order, &packed);
    put_leaves(graph, &packed);
    put_groups(graph, &packed);
    yarn_packed_end(&packed);
}
