/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/graph_build.h"

#include <stdlib.h>

#include "output/base/array.h"

static int add_event(struct yarn_page_graph *graph, size_t side, uint32_t number)
{
    const struct yarn_profile *profile = graph->sides[side].profile;
    const struct yarn_profile_event *event = &profile->events[number];
    const char *name = yarn_profile_text(profile, event->name);
    const char *unit = yarn_profile_text(profile, event->unit);
    for (size_t i = 0; i < graph->nr_events; i++) {
        struct yarn_page_event *known = &graph->events[i];
        if (strcmp(known->name, name) == 0 && strcmp(known->unit, unit) == 0) {
            known->numbers[side] = number;
            known->period = known->period == event->period ? known->period : 0;
            return 0;
        }
    }
    if (YARN_ARRAY_RESERVE(&graph->events, &graph->events_capacity, graph->nr_events + 1))
        return -ENOMEM;
    struct yarn_page_event *added = &graph->events[graph->nr_events++];
    *added = (struct yarn_page_event){name, unit, event->period, {YARN_DUMP_NONE, YARN_DUMP_NONE}};
    added->numbers[side] = number;
    return 0;
}

/* The events with samples; the later profile's first. */
static int add_events(struct yarn_page_graph *graph)
{
    int err = 0;
    for (size_t side = 2; side-- > 0;) {
        const struct yarn_profile *profile = graph->sides[side].profile;
        for (uint32_t i = 0; profile && !err && i < profile->nr_events; i++) {
            if (profile->events[i].samples && graph->sides[side].choice->events[i])
                err = add_event(graph, side, i);
        }
    }
    return err;
}

static int find_runs(struct yarn_page_graph *graph)
{
    int err = 0;
    for (size_t side = 0; graph->sides[0].profile && !err && side < 2; side++) {
        const struct yarn_profile *profile = graph->sides[side].profile;
        err = yarn_clusters_build(profile, profile->start_ns, profile->end_ns,
                                  &graph->clusters[side]);
    }
    return err;
}

/* As yarn_diff does, unless the memory limit has put threads of several runs into one lane. */
static bool can_judge_by_runs(const struct yarn_page_graph *graph)
{
    for (size_t i = 0; i < graph->nr_threads; i++) {
        if (graph->threads[i].run == YARN_DUMP_NONE)
            return false;
    }
    return graph->clusters[0].count > 1 && graph->clusters[1].count > 1;
}

static int mark_kernel(struct yarn_page_graph *graph)
{
    graph->is_kernel = calloc(graph->match.count + 1, 1);
    if (!graph->is_kernel)
        return -ENOMEM;
    for (size_t side = 0; side < 2; side++) {
        const struct yarn_profile *profile = graph->sides[side].profile;
        for (size_t i = 0; profile && i < profile->nr_frames; i++) {
            const struct yarn_profile_frame *frame = &profile->frames[i];
            if (frame->flags & YARN_DUMP_FRAME_KERNEL)
                graph->is_kernel[graph->match.numbers[side][frame->function]] = 1;
        }
    }
    return 0;
}

static int by_event_thread_leaf_slice(const void *left, const void *right)
{
    const struct yarn_page_cell *a = left, *b = right;
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->leaf != b->leaf)
        return a->leaf < b->leaf ? -1 : 1;
    return a->slice < b->slice ? -1 : a->slice > b->slice;
}

/* Cells of several stacks may have become cells of one leaf. */
static void join_equal_cells(struct yarn_page_graph *graph)
{
    size_t kept = 0;
    for (size_t i = 0; i < graph->nr_cells; i++) {
        struct yarn_page_cell *cell = &graph->cells[i];
        struct yarn_page_cell *last = kept ? &graph->cells[kept - 1] : NULL;
        if (last && by_event_thread_leaf_slice(last, cell) == 0) {
            last->weight += cell->weight;
            last->samples += cell->samples;
        } else {
            graph->cells[kept++] = *cell;
        }
    }
    graph->nr_cells = kept;
}

/* All of the time that threads lived, as far as it is looked at. */
static void cover_lives(const struct yarn_page_side *side)
{
    const struct yarn_sched_log *sched = side->sched;
    uint64_t from_ns = UINT64_MAX, to_ns = 0;
    for (size_t i = 0; sched && i < sched->nr_lives; i++) {
        from_ns = yarn_u64_min(from_ns, sched->lives[i].birth_ns);
        to_ns = yarn_u64_max(to_ns, sched->lives[i].end_ns);
    }
    if (sched)
        yarn_slices_cover(side->slices, yarn_u64_max(from_ns, sched->from_ns),
                          yarn_u64_min(to_ns, sched->to_ns));
}

/* Slices of both sides are equally wide. */
static int finish_slices(struct yarn_page_graph *graph)
{
    unsigned shift = 0;
    int err = 0;
    if (graph->sched)
        cover_lives(&graph->sides[1]);
    for (size_t side = 0; side < 2; side++) {
        if (graph->sides[side].profile && graph->sides[side].slices->shift > shift)
            shift = graph->sides[side].slices->shift;
    }
    for (size_t side = 0; !err && side < 2; side++) {
        const struct yarn_profile *profile = graph->sides[side].profile;
        if (profile)
            err = yarn_slices_finish(graph->sides[side].slices, profile, shift);
    }
    return err;
}

/* ---- tree, leaves, threads and cells, from the stacks of both sides ---- */

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

static int add_paths(struct yarn_page_graph *graph)
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

/* ---- all of it ---- */

static int build(struct yarn_page_graph *graph)
{
    int err = yarn_match_build(graph->sides[0].profile, graph->sides[1].profile, &graph->match);
    if (!err)
        err = finish_slices(graph);
    if (!err)
        err = add_events(graph);
    if (!err)
        err = mark_kernel(graph);
    if (!err)
        err = find_runs(graph);
    if (!err)
        err = add_paths(graph);
    if (err)
        return err;
    graph->is_by_runs = can_judge_by_runs(graph);
    if (graph->nr_cells)
        qsort(graph->cells, graph->nr_cells, sizeof *graph->cells, by_event_thread_leaf_slice);
    join_equal_cells(graph);
    return 0;
}

int yarn_page_graph_build(const struct yarn_page_side sides[2], struct yarn_page_graph *ret_graph)
{
    struct yarn_page_graph graph = {.sides = {sides[0], sides[1]}, .nodes = YARN_PATHS_EMPTY};
    if (!sides[0].profile)
        graph.sched = sides[1].sched;
    int err = build(&graph);
    if (err) {
        yarn_page_graph_fini(&graph);
        return err;
    }
    *ret_graph = graph;
    return 0;
}

void yarn_page_graph_fini(struct yarn_page_graph *graph)
{
    yarn_match_fini(&graph->match);
    yarn_clusters_fini(&graph->clusters[0]);
    yarn_clusters_fini(&graph->clusters[1]);
    free(graph->is_kernel);
    free(graph->lane_of);
    yarn_paths_fini(&graph->nodes);
    free(graph->leaves);
    free(graph->events);
    free(graph->threads);
    free(graph->cells);
    *graph = (struct yarn_page_graph){.nodes = YARN_PATHS_EMPTY};
}
