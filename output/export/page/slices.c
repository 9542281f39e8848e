/* SPDX-License-Identifier: Apache-2.0 */
#include "output/export/page/slices.h"

enum {
    FIRST_SHIFT = 16,        /* 66 us */
    LAST_SHIFT = 62,         /* one slice for all time */
    MAX_SLICES = 4096,       /* more than a screen has pixels */
    FEWEST_SLICES = 512,     /* not halved for the sake of memory */
    CROWDED_CELLS = 1 << 20, /* halves the slices where they can be spared */
};

void yarn_slices_init(struct yarn_slices *slices)
{
    *slices = (struct yarn_slices){.shift = FIRST_SHIFT};
}

void yarn_slices_fini(struct yarn_slices *slices)
{
    yarn_cells_fini(&slices->cells);
}

/* Every cell gets the slice (its own + ahead) >> narrower. */
static int renumber(struct yarn_slices *slices, uint32_t ahead, unsigned narrower)
{
    struct yarn_cells renumbered = {0};
    for (size_t i = 0; i < slices->cells.count; i++) {
        struct yarn_cell cell = slices->cells.cells[i];
        cell.cpu = (uint16_t)((cell.cpu + ahead) >> narrower);
        int err = yarn_cells_add(&renumbered, &cell);
        if (err) {
            yarn_cells_fini(&renumbered);
            return err;
        }
    }
    yarn_cells_fini(&slices->cells);
    slices->cells = renumbered;
    return 0;
}

static int double_width(struct yarn_slices *slices)
{
    uint32_t odd = slices->base & 1;
    int err = renumber(slices, odd, 1);
    if (err)
        return err;
    slices->count = (slices->count + odd + 1) / 2;
    slices->base >>= 1;
    slices->shift++;
    return 0;
}

/* Time begins earlier: with some room, so that a dump that is written backwards is no trouble, but
 * not before the recording. */
static int begin_earlier(struct yarn_slices *slices, uint64_t slice, uint64_t start)
{
    uint64_t room = yarn_u64_min(slices->count / 8 + 8, slice > start ? slice - start : 0);
    uint64_t ahead = slices->base - (slice - room);
    int err = renumber(slices, (uint32_t)ahead, 0);
    if (err)
        return err;
    slices->base = slice - room;
    slices->count += (uint32_t)ahead;
    return 0;
}

static bool is_crowded(const struct yarn_slices *slices)
{
    return slices->cells.count >= CROWDED_CELLS && slices->count >= 2 * FEWEST_SLICES;
}

/* How many slices there are when the sample is among them. */
static uint64_t count_with(const struct yarn_slices *slices, uint64_t slice)
{
    uint64_t end = slices->base + slices->count;
    return yarn_u64_max(end, slice + 1) - yarn_u64_min(slices->base, slice);
}

static int make_room(struct yarn_slices *slices, uint64_t time_ns, uint64_t start_ns)
{
    int err = 0;
    if (!slices->count)
        slices->base = time_ns >> slices->shift;
    while (!err && slices->shift < LAST_SHIFT &&
           (count_with(slices, time_ns >> slices->shift) > MAX_SLICES || is_crowded(slices)))
        err = double_width(slices);
    if (!err && time_ns >> slices->shift < slices->base)
        err = begin_earlier(slices, time_ns >> slices->shift, start_ns >> slices->shift);
    return err;
}

int yarn_slices_take(void *self, const struct yarn_profile *profile,
                     const struct yarn_timeline_entry *sample)
{
    struct yarn_slices *slices = self;
    int err = make_room(slices, sample->time_ns, profile->start_ns);
    if (err)
        return err;
    struct yarn_cell cell = {
        .weight = sample->weight,
        .samples = 1,
        .stack = sample->stack,
        .thread = sample->thread,
        .event = sample->event,
        .cpu = (uint16_t)((sample->time_ns >> slices->shift) - slices->base),
        .stack_end = sample->stack_end,
    };
    slices->count = cell.cpu >= slices->count ? cell.cpu + 1u : slices->count;
    return yarn_cells_add(&slices->cells, &cell);
}

uint32_t yarn_slices_first(const struct yarn_slices *slices)
{
    uint32_t first = slices->count ? slices->count - 1 : 0;
    for (size_t i = 0; i < slices->cells.count; i++) {
        if (slices->cells.cells[i].cpu < first)
            first = slices->cells.cells[i].cpu;
    }
    return first;
}

int yarn_slices_coarsen(struct yarn_slices *slices, unsigned shift)
{
    int err = 0;
    while (!err && slices->shift < shift)
        err = double_width(slices);
    return err;
}
