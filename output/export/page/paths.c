/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/paths.h"

#include <stdlib.h>

#include "output/store/array.h"

/* The pseudo-functions that the root sides of stacks may have, and then: none. */
enum { NR_ROOTS = YARN_FUNCTION_PSEUDO_COUNT + 1 };

struct walk {
    struct yarn_page_graph *graph;
    struct yarn_table leaves; /* node to leaf */
    /* Of the side that is being added; owned. */
    size_t side;
    const struct yarn_choice *choice; /* borrowed */
    uint32_t *events, *threads;       /* to those of the graph; YARN_DUMP_NONE: left out */
    uint32_t first_slice;
    unsigned roots;   /* a bit a kind of root: something occurs below it */
    uint8_t *needed;  /* the same of a stack */
    uint32_t *places; /* node of each stack below the root that is being added */
};

static void free_side(struct walk *walk)
{
    free(walk->events);
    free(walk->threads);
    free(walk->needed);
    free(walk->places);
    walk->events = walk->threads = NULL;
    walk->needed = NULL;
    walk->places = NULL;
}

static unsigned root_of(const struct yarn_cell *cell)
{
    uint32_t root = yarn_profile_root_of(cell->stack, cell->stack_end);
    return root == YARN_DUMP_NONE ? YARN_FUNCTION_PSEUDO_COUNT : root;
}

static int leaf_at(struct walk *walk, uint32_t node, uint32_t *ret_leaf)
{
    struct yarn_page_graph *graph = walk->graph;
    uint32_t found = yarn_table_find(&walk->leaves, node);
    if (found == YARN_TABLE_NONE) {
        if (YARN_ARRAY_RESERVE(&graph->leaves, &graph->leaves_capacity, graph->nr_leaves + 1))
            return -ENOMEM;
        found = (uint32_t)graph->nr_leaves++;
        graph->leaves[found] = node;
        int err = yarn_table_put(&walk->leaves, node, found);
        if (err)
            return err;
    }
    *ret_leaf = found;
    return 0;
}

/* Its number; 0 where nothing is compared. */
static uint32_t run_of(const struct walk *walk, uint32_t thread)
{
    const struct yarn_page_graph *graph = walk->graph;
    const uint32_t *of_dump = graph->clusters[walk->side].of_dump;
    return of_dump ? of_dump[graph->sides[walk->side].profile->threads[thread].dump] : 0;
}

/* One more thread of a lane. */
static void join_thread(struct walk *walk, struct yarn_page_thread *lane, uint32_t number)
{
    lane->count++;
    if (lane->run != run_of(walk, number))
        lane->run = YARN_DUMP_NONE;
}

static int add_thread(struct walk *walk, uint32_t first, uint32_t number)
{
    struct yarn_page_graph *graph = walk->graph;
    if (YARN_ARRAY_RESERVE(&graph->threads, &graph->threads_capacity, graph->nr_threads + 1))
        return -ENOMEM;
    walk->threads[first] = (uint32_t)graph->nr_threads;
    graph->threads[graph->nr_threads++] = (struct yarn_page_thread){
        .side = (uint32_t)walk->side,
        .number = number,
        .count = 1,
        .run = run_of(walk, number),
    };
    return 0;
}

/* Owned by the caller: a byte a thread that is known to have lived; NULL: no memory. */
static uint8_t *find_living(const struct yarn_page_graph *graph, size_t side)
{
    uint8_t *lived = calloc(graph->sides[side].profile->nr_threads + 1, 1);
    const struct yarn_sched_log *sched = side ? graph->sched : NULL;
    for (size_t i = 0; lived && sched && i < sched->nr_lives; i++)
        lived[sched->lives[i].owner] = 1;
    return lived;
}

static int add_lanes(struct walk *walk, const uint8_t *lived)
{
    struct yarn_page_graph *graph = walk->graph;
    const struct yarn_profile *profile = graph->sides[walk->side].profile;
    const struct yarn_lanes *lanes = &graph->sides[walk->side].slices->lanes;
    int err = 0;
    for (uint32_t i = 0; !err && i < profile->nr_threads; i++) {
        uint32_t first = yarn_lanes_first(lanes, i);
        if (first == YARN_DUMP_NONE || (!profile->threads[i].samples && !lived[i]) ||
            !walk->choice->threads[i])
            continue;
        if (walk->threads[first] == YARN_DUMP_NONE)
            err = add_thread(walk, first, i);
        else
            join_thread(walk, &graph->threads[walk->threads[first]], i);
        if (!err && graph->lane_of && walk->side)
            graph->lane_of[i] = walk->threads[first];
    }
    return err;
}

static uint32_t *new_numbers(size_t count)
{
    uint32_t *numbers = calloc(count + 1, sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = YARN_DUMP_NONE;
    return numbers;
}

static int map_threads(struct walk *walk)
{
    struct yarn_page_graph *graph = walk->graph;
    size_t count = graph->sides[walk->side].profile->nr_threads;
    uint8_t *lived = find_living(graph, walk->side);
    walk->threads = new_numbers(count);
    if (graph->sched && walk->side)
        graph->lane_of = new_numbers(count);
    bool has_memory = lived && walk->threads && (!graph->sched || !walk->side || graph->lane_of);
    int err = has_memory ? add_lanes(walk, lived) : -ENOMEM;
    free(lived);
    return err;
}

static int map_events(struct walk *walk)
{
    const struct yarn_page_graph *graph = walk->graph;
    const struct yarn_profile *profile = graph->sides[walk->side].profile;
    walk->events = new_numbers(profile->nr_events);
    if (!walk->events)
        return -ENOMEM;
    for (uint32_t i = 0; i < graph->nr_events; i++) {
        if (graph->events[i].numbers[walk->side] != YARN_DUMP_NONE)
            walk->events[graph->events[i].numbers[walk->side]] = i;
    }
    return 0;
}

static int mark_needed(struct walk *walk)
{
    const struct yarn_profile *profile = walk->graph->sides[walk->side].profile;
    const struct yarn_cells *cells = &walk->graph->sides[walk->side].slices->cells;
    walk->needed = calloc(profile->nr_stacks + 1, 1);
    walk->places = calloc(profile->nr_stacks + 1, sizeof *walk->places);
    if (!walk->needed || !walk->places)
        return -ENOMEM;
    for (size_t i = 0; i < cells->count; i++) {
        const struct yarn_cell *cell = &cells->cells[i];
        if (!yarn_choice_has_cell(walk->choice, cell))
            continue;
        walk->roots |= 1u << root_of(cell);
        if (cell->stack != YARN_DUMP_NONE)
            walk->needed[cell->stack] |= (uint8_t)(1u << root_of(cell));
    }
    for (size_t i = profile->nr_stacks; i-- > 0;) {
        uint32_t parent = profile->stacks[i].parent;
        if (parent != YARN_DUMP_NONE)
            walk->needed[parent] |= walk->needed[i];
    }
    return 0;
}

static int add_cells(struct walk *walk, unsigned root, uint32_t top)
{
    struct yarn_page_graph *graph = walk->graph;
    const struct yarn_cells *cells = &graph->sides[walk->side].slices->cells;
    for (size_t i = 0; i < cells->count; i++) {
        const struct yarn_cell *cell = &cells->cells[i];
        if (root_of(cell) != root || !yarn_choice_has_cell(walk->choice, cell))
            continue;
        struct yarn_page_cell shown = {
            .weight = cell->weight,
            .samples = cell->samples,
            .squares = cell->squares,
            .thread = walk->threads[cell->thread],
            .event = (uint16_t)walk->events[cell->event],
            .slice = (uint16_t)(cell->cpu - walk->first_slice),
        };
        uint32_t node = cell->stack == YARN_DUMP_NONE ? top : walk->places[cell->stack];
        int err = leaf_at(walk, node, &shown.leaf);
        if (err)
            return err;
        if (YARN_ARRAY_PUT(&graph->cells, &graph->nr_cells, &graph->cells_capacity, &shown))
            return -ENOMEM;
    }
    return 0;
}

static int add_side(struct walk *walk)
{
    const uint32_t *numbers = walk->graph->match.numbers[walk->side];
    walk->choice = walk->graph->sides[walk->side].choice;
    walk->roots = 0;
    walk->first_slice = yarn_slices_first(walk->graph->sides[walk->side].slices);
    int err = map_threads(walk);
    if (!err)
        err = map_events(walk);
    if (!err)
        err = mark_needed(walk);
    for (unsigned root = NR_ROOTS; !err && root-- > 0;) {
        uint32_t top = 0;
        if (!(walk->roots >> root & 1))
            continue;
        if (root != YARN_FUNCTION_PSEUDO_COUNT)
            err = yarn_paths_below(&walk->graph->nodes, 0, numbers[root], &top);
        if (!err)
            err = yarn_paths_place(&walk->graph->nodes,
                                   &(struct yarn_paths_stacks){
                                       .profile = walk->choice->profile,
                                       .keys = numbers,
                                       .chosen = walk->needed,
                                       .bit = (uint8_t)(1u << root),
                                       .top = top,
                                   },
                                   walk->places);
        if (!err)
            err = add_cells(walk, root, top);
    }
    return err;
}

int yarn_page_paths_add(struct yarn_page_graph *graph)
{
    struct walk walk = {
        .graph = graph,
        .leaves = YARN_TABLE_CLOSED,
    };
    uint32_t root;
    int err = yarn_table_open(&walk.leaves, 1024, (size_t)1 << 31);
    if (!err)
        err = yarn_paths_below(&graph->nodes, YARN_DUMP_NONE, YARN_DUMP_NONE, &root);
    for (walk.side = 0; !err && walk.side < 2; walk.side++) {
        if (graph->sides[walk.side].profile)
            err = add_side(&walk);
        free_side(&walk);
    }
    free_side(&walk);
    yarn_table_close(&graph->nodes.index);
    yarn_table_close(&walk.leaves);
    return err;
}
