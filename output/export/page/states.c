/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/states.h"

#include <stdlib.h>

#include "output/analysis/sched/lane.h"
#include "output/export/page/numbers.h"

enum { CELLS_MAX = 1 << 20, WHOLE = 255 };

struct one {
    uint32_t lane, life;
};

struct states {
    const struct yarn_page_graph *graph;
    struct yarn_packed *packed;
    struct yarn_sched_lane lane;
    struct one *lives; /* owned: those that have a lane, by it */
    size_t nr_lives;
};

static int by_lane(const void *a, const void *b)
{
    const struct one *left = a, *right = b;
    return (left->lane > right->lane) - (left->lane < right->lane);
}

static int sort_lives(struct states *states)
{
    const struct yarn_page_graph *graph = states->graph;
    states->lives = calloc(graph->sched->nr_lives + 1, sizeof *states->lives);
    if (!states->lives)
        return -ENOMEM;
    for (size_t i = 0; i < graph->sched->nr_lives; i++) {
        uint32_t lane = graph->lane_of[graph->sched->lives[i].owner];
        if (lane != YARN_DUMP_NONE && graph->sched->lives[i].is_recorded)
            states->lives[states->nr_lives++] = (struct one){lane, (uint32_t)i};
    }
    qsort(states->lives, states->nr_lives, sizeof *states->lives, by_lane);
    return 0;
}

/* Of the slice, or, where several threads share the lane, of all that they lived in it. What is
 * there at all has a share. */
static void shares_of(const struct states *states, const struct yarn_sched_cell *cell,
                      uint8_t ret_shares[YARN_SCHED_STATES])
{
    uint64_t whole_ns = 0;
    for (size_t i = 0; i < YARN_SCHED_STATES; i++)
        whole_ns += cell->states[i];
    whole_ns = yarn_u64_max(whole_ns, states->lane.slice_ns);
    for (size_t i = 0; i < YARN_SCHED_STATES; i++) {
        double share = (double)cell->states[i] / (double)whole_ns * WHOLE;
        ret_shares[i] = (uint8_t)(share > 0 && share < 1 ? 1 : share + 0.5);
    }
}

static void put_stretch(const struct states *states, uint32_t count,
                        const uint8_t shares[YARN_SCHED_STATES])
{
    static const uint8_t none[YARN_SCHED_STATES];
    bool is_alive = memcmp(shares, none, sizeof none) != 0;
    yarn_packed_number(states->packed, count);
    yarn_packed_number(states->packed, is_alive);
    for (size_t i = 0; is_alive && i < YARN_SCHED_STATES; i++)
        yarn_packed_number(states->packed, shares[i]);
}

static uint32_t end_of_stretch(const struct states *states, uint32_t begin, uint8_t *shares)
{
    uint8_t next[YARN_SCHED_STATES];
    uint32_t end = begin + 1;
    shares_of(states, &states->lane.cells[begin], shares);
    for (; end < states->lane.count; end++) {
        shares_of(states, &states->lane.cells[end], next);
        if (memcmp(shares, next, sizeof next) != 0)
            break;
    }
    return end;
}

static void put_lane(const struct states *states)
{
    uint8_t shares[YARN_SCHED_STATES];
    uint64_t nr_stretches = 0;
    for (uint32_t at = 0; at < states->lane.count; at = end_of_stretch(states, at, shares))
        nr_stretches++;
    yarn_packed_number(states->packed, nr_stretches);
    for (uint32_t at = 0; at < states->lane.count;) {
        uint32_t end = end_of_stretch(states, at, shares);
        put_stretch(states, end - at, shares);
        at = end;
    }
}

static void put_lanes(const struct states *states)
{
    const struct yarn_sched_log *sched = states->graph->sched;
    size_t at = 0;
    for (uint32_t number = 0; number < states->graph->nr_threads; number++) {
        memset(states->lane.cells, 0, states->lane.count * sizeof *states->lane.cells);
        size_t begin = at;
        for (; at < states->nr_lives && states->lives[at].lane == number; at++)
            yarn_sched_lane_add(&states->lane, sched, &sched->lives[states->lives[at].life],
                                sched->from_ns, sched->to_ns);
        if (at == begin)
            yarn_packed_number(states->packed, 0);
        else
            put_lane(states);
    }
}

int yarn_page_states_write(const struct yarn_page_graph *graph, struct yarn_packed *packed)
{
    struct states states = {.graph = graph, .packed = packed};
    uint32_t count = yarn_page_numbers_slices(graph);
    unsigned wider = 0;
    while (graph->nr_threads * ((count >> wider) + 1) > CELLS_MAX && count >> wider > 1)
        wider++;
    states.lane = (struct yarn_sched_lane){
        .count = (count >> wider) + 1,
        .from_ns = yarn_page_numbers_first_ns(graph),
        .slice_ns = UINT64_C(1) << (graph->sides[1].slices->shift + wider),
    };
    states.lane.cells = calloc(states.lane.count, sizeof *states.lane.cells);
    int err = states.lane.cells ? sort_lives(&states) : -ENOMEM;
    if (!err) {
        yarn_packed_number(packed, wider);
        put_lanes(&states);
    }
    free(states.lane.cells);
    free(states.lives);
    return err;
}
