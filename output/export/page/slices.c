/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/slices.h"

#include <stdlib.h>

enum {
    FIRST_SHIFT = 16,  /* 66 us */
    LAST_SHIFT = 62,   /* one slice for all time */
    MAX_SLICES = 4096, /* more than a screen has pixels */
    BOUND = 1 << 19,   /* about 2 MB of page */
    FEWEST_SLICES = 4, /* with which lanes are kept apart */
};

/* The order in which detail is given up when there are too many cells: slices down to so few, then
 * lanes of that kind. Where lanes hardly share stacks, as those of different programs do not, their
 * joining would save little: then slices become fewer, down to FEWEST_SLICES. */
static const struct {
    uint32_t fewest_slices;
    enum yarn_lanes_kind lanes;
} steps[] = {{512, YARN_LANES_NAMES}, {64, YARN_LANES_ALL}, {1, YARN_LANES_ALL}};

void yarn_slices_init(struct yarn_slices *slices, const struct yarn_filter *filter)
{
    *slices = (struct yarn_slices){
        .lanes = YARN_LANES_EMPTY,
        .bound = BOUND,
        .most_cells = BOUND,
        .shift = FIRST_SHIFT,
    };
    slices->lanes.filter = filter;
}

void yarn_slices_fini(struct yarn_slices *slices)
{
    yarn_cells_fini(&slices->cells);
    yarn_lanes_fini(&slices->lanes);
}

struct change {
    const struct yarn_lanes *lanes;
    uint32_t ahead;
    unsigned narrower;
};

/* The slice (its own + ahead) >> narrower, and the lane that its thread is in now. */
static bool change_cell(void *self, struct yarn_cell *cell)
{
    const struct change *change = self;
    cell->cpu = (uint16_t)((cell->cpu + change->ahead) >> change->narrower);
    cell->thread = yarn_lanes_first(change->lanes, cell->thread);
    return cell->thread != YARN_DUMP_NONE;
}

static void change_cells(struct yarn_slices *slices, uint32_t ahead, unsigned narrower)
{
    struct change change = {&slices->lanes, ahead, narrower};
    yarn_cells_change(&slices->cells, change_cell, &change);
}

static void double_width(struct yarn_slices *slices)
{
    uint32_t odd = slices->base & 1;
    change_cells(slices, odd, 1);
    slices->count = (slices->count + odd + 1) / 2;
    slices->base >>= 1;
    slices->shift++;
}

/* Time begins earlier: with some room, so that a dump that is written backwards is no trouble, but
 * not before the recording. */
static void begin_earlier(struct yarn_slices *slices, uint64_t slice, uint64_t start)
{
    uint64_t room = yarn_u64_min(slices->count / 8 + 8, slice > start ? slice - start : 0);
    uint64_t ahead = slices->base - (slice - room);
    change_cells(slices, (uint32_t)ahead, 0);
    slices->base = slice - room;
    slices->count += (uint32_t)ahead;
}

static int join_threads(struct yarn_slices *slices, const struct yarn_profile *profile,
                        enum yarn_lanes_kind kind, bool is_whole)
{
    int err = yarn_lanes_join(&slices->lanes, profile, kind, is_whole);
    if (!err)
        change_cells(slices, 0, 0);
    return err;
}

static uint64_t hash_without_lane(const struct yarn_cell *cell)
{
    uint64_t hash = (uint64_t)cell->stack << 32 | (uint64_t)cell->cpu << 8 | cell->stack_end;
    return (hash ^ (uint64_t)cell->event << 56) * 0x9E3779B97F4A7C15;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *one = a, *other = b;
    return (*one > *other) - (*one < *other);
}

/* Whether less than half of the cells would be left if all lanes were one. */
static int is_joining_worth(const struct yarn_slices *slices, bool *ret_is_worth)
{
    size_t count = slices->cells.count, nr_left = 0;
    uint64_t *hashes = malloc((count + 1) * sizeof *hashes);
    if (!hashes)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        hashes[i] = hash_without_lane(&slices->cells.cells[i]);
    qsort(hashes, count, sizeof *hashes, by_number);
    for (size_t i = 0; i < count; i++)
        nr_left += !i || hashes[i] != hashes[i - 1];
    free(hashes);
    *ret_is_worth = nr_left < count / 2;
    return 0;
}

/* -ENOENT: there is nothing left to give up. */
static int give_up_more(struct yarn_slices *slices, const struct yarn_profile *profile)
{
    for (size_t i = 0; i < YARN_COUNT_OF(steps); i++) {
        if (slices->count > steps[i].fewest_slices && slices->shift < LAST_SHIFT) {
            double_width(slices);
            return 0;
        }
        if (slices->lanes.kind >= steps[i].lanes)
            continue;
        bool is_worth = true,
             may_widen = slices->count > FEWEST_SLICES && slices->shift < LAST_SHIFT;
        int err = may_widen ? is_joining_worth(slices, &is_worth) : 0;
        if (err || is_worth)
            return err ? err : join_threads(slices, profile, steps[i].lanes, false);
        double_width(slices);
        return 0;
    }
    return -ENOENT;
}

/* How many stacks have a cell, of each event (of eight that share a bit, of one). */
static int count_stacks(const struct yarn_slices *slices, size_t *ret_count)
{
    const struct yarn_cells *cells = &slices->cells;
    uint32_t most = 0;
    for (size_t i = 0; i < cells->count; i++) {
        uint32_t stack = cells->cells[i].stack;
        most = stack != YARN_DUMP_NONE && stack > most ? stack : most;
    }
    uint8_t *seen = calloc((size_t)most + 1, 1);
    if (!seen)
        return -ENOMEM;
    size_t count = 0;
    for (size_t i = 0; i < cells->count; i++) {
        const struct yarn_cell *cell = &cells->cells[i];
        uint8_t bit = (uint8_t)(1u << cell->event % 8);
        if (cell->stack == YARN_DUMP_NONE || seen[cell->stack] & bit)
            continue;
        seen[cell->stack] |= bit;
        count++;
    }
    free(seen);
    *ret_count = count;
    return 0;
}

/* Why down to three quarters: the next cells must not be too many again at once. Why at least an
 * eighth more, where stacks allow more: looking costs as much as there are cells. */
static int make_fewer(struct yarn_slices *slices, const struct yarn_profile *profile)
{
    size_t nr_stacks;
    int err = count_stacks(slices, &nr_stacks);
    if (err)
        return err;
    size_t most = yarn_size_max(slices->bound, 2 * nr_stacks);
    if (slices->cells.count < most) {
        slices->most_cells = yarn_size_max(most, slices->cells.count / 8 * 9);
        return 0;
    }
    /* Filtered threads may have got their last names since. */
    if (slices->lanes.kind != YARN_LANES_THREADS)
        err = join_threads(slices, profile, slices->lanes.kind, false);
    while (!err && slices->cells.count > most / 4 * 3)
        err = give_up_more(slices, profile);
    slices->is_full = err == -ENOENT;
    slices->most_cells = most;
    return err == -ENOENT ? 0 : err;
}

/* How many slices there are when the sample is among them. */
static uint64_t count_with(const struct yarn_slices *slices, uint64_t slice)
{
    uint64_t end = slices->base + slices->count;
    return yarn_u64_max(end, slice + 1) - yarn_u64_min(slices->base, slice);
}

static int make_room(struct yarn_slices *slices, const struct yarn_profile *profile,
                     uint64_t time_ns)
{
    int err = 0;
    if (!slices->count)
        slices->base = time_ns >> slices->shift;
    if (slices->cells.count >= slices->most_cells && !slices->is_full)
        err = make_fewer(slices, profile);
    while (slices->shift < LAST_SHIFT && count_with(slices, time_ns >> slices->shift) > MAX_SLICES)
        double_width(slices);
    if (time_ns >> slices->shift < slices->base)
        begin_earlier(slices, time_ns >> slices->shift, profile->start_ns >> slices->shift);
    return err;
}

int yarn_slices_take(void *self, const struct yarn_profile *profile,
                     const struct yarn_timeline_entry *sample)
{
    struct yarn_slices *slices = self;
    int err = make_room(slices, profile, sample->time_ns);
    if (!err && slices->lanes.kind != YARN_LANES_THREADS && sample->thread >= slices->lanes.count)
        err = yarn_lanes_add(&slices->lanes, profile);
    if (err)
        return err;
    struct yarn_cell cell = {
        .weight = sample->weight,
        .samples = 1,
        .squares = (double)sample->weight * (double)sample->weight,
        .stack = sample->stack,
        .thread = yarn_lanes_first(&slices->lanes, sample->thread),
        .event = sample->event,
        .cpu = (uint16_t)((sample->time_ns >> slices->shift) - slices->base),
        .stack_end = sample->stack_end,
    };
    if (cell.thread == YARN_DUMP_NONE)
        return 0;
    slices->count = cell.cpu >= slices->count ? cell.cpu + 1u : slices->count;
    return yarn_cells_add(&slices->cells, &cell);
}

static uint32_t first_with_sample(const struct yarn_slices *slices)
{
    uint32_t first = slices->count ? slices->count - 1 : 0;
    for (size_t i = 0; i < slices->cells.count; i++) {
        if (slices->cells.cells[i].cpu < first)
            first = slices->cells.cells[i].cpu;
    }
    return first;
}

static uint64_t first_slice(const struct yarn_slices *slices)
{
    uint64_t first = slices->base + first_with_sample(slices);
    return slices->to_ns ? yarn_u64_min(first, slices->from_ns >> slices->shift) : first;
}

uint32_t yarn_slices_first(const struct yarn_slices *slices)
{
    return (uint32_t)(first_slice(slices) - slices->base);
}

uint32_t yarn_slices_shown(const struct yarn_slices *slices)
{
    uint64_t end = slices->base + slices->count;
    if (slices->to_ns)
        end = yarn_u64_max(end, (slices->to_ns >> slices->shift) + 1);
    return (uint32_t)yarn_u64_min(end - first_slice(slices), UINT32_MAX);
}

void yarn_slices_cover(struct yarn_slices *slices, uint64_t from_ns, uint64_t to_ns)
{
    if (!slices->count || to_ns <= from_ns)
        return;
    slices->from_ns = from_ns;
    slices->to_ns = to_ns;
    while (slices->shift < LAST_SHIFT && yarn_slices_shown(slices) > MAX_SLICES)
        double_width(slices);
    uint64_t first = from_ns >> slices->shift;
    if (first < slices->base)
        begin_earlier(slices, first, first);
}

int yarn_slices_finish(struct yarn_slices *slices, const struct yarn_profile *profile,
                       unsigned shift)
{
    while (slices->shift < shift)
        double_width(slices);
    if (slices->lanes.kind == YARN_LANES_THREADS)
        return 0;
    return join_threads(slices, profile, slices->lanes.kind, true);
}
