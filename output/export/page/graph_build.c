/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/graph_build.h"

#include <stdlib.h>

#include "output/export/page/paths.h"
#include "output/store/array.h"

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

/* Those with samples; the later profile's first. */
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
        err = yarn_page_paths_add(graph);
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
