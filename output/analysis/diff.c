/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/diff.h"

#include <math.h>
#include <stdlib.h>

#include "output/analysis/array.h"
#include "output/analysis/change.h"
#include "output/analysis/stack_sums.h"

struct builder {
    const struct yarn_profile *const *profiles;
    const struct yarn_diff_options *options;
    struct yarn_diff *diff;
    struct yarn_diff_row *sums; /* owned: of one event, by function of the match */
};

/* What is worked out of one profile before its events are added. */
struct side {
    size_t number;
    const struct yarn_profile *profile;
    const uint32_t *shared; /* borrowed: of each function, its number in the match */
    uint8_t *threads, *functions, *repeated; /* owned */
};

static int add_event(struct builder *builder, size_t side, uint32_t number)
{
    const struct yarn_profile *profile = builder->profiles[side];
    struct yarn_diff *diff = builder->diff;
    const struct yarn_profile_event *event = &profile->events[number];
    struct yarn_diff_event added = {
        .name = yarn_profile_text(profile, event->name),
        .unit = yarn_profile_text(profile, event->unit),
        .numbers = {YARN_DUMP_NONE, YARN_DUMP_NONE},
    };
    size_t at = 0;
    while (at < diff->nr_events && (strcmp(diff->events[at].name, added.name) != 0 ||
                                    strcmp(diff->events[at].unit, added.unit) != 0))
        at++;
    if (at == diff->nr_events) {
        struct yarn_diff_event *events = yarn_array_grow(diff->events, &diff->events_capacity,
                                                         diff->nr_events + 1, sizeof *events);
        if (!events)
            return -ENOMEM;
        diff->events = events;
        events[diff->nr_events++] = added;
    }
    diff->events[at].numbers[side] = number;
    diff->events[at].totals[side] = (struct yarn_diff_sum){event->total, event->samples};
    return 0;
}

static int add_events(struct builder *builder)
{
    int err = 0;
    for (size_t side = 0; side < 2; side++) {
        const struct yarn_profile *profile = builder->profiles[side];
        for (uint32_t i = 0; !err && i < profile->nr_events; i++) {
            if (profile->events[i].samples &&
                yarn_filter_has_event(builder->options->filter, profile, i))
                err = add_event(builder, side, i);
        }
    }
    return err;
}

static void side_fini(struct side *side)
{
    free(side->threads);
    free(side->functions);
    free(side->repeated);
}

static int side_init(struct side *side, const struct builder *builder, size_t number)
{
    const struct yarn_profile *profile = builder->profiles[number];
    *side = (struct side){
        .number = number,
        .profile = profile,
        .shared = builder->diff->match.numbers[number],
        .threads = yarn_filter_threads(builder->options->filter, profile),
        .functions = yarn_filter_functions(builder->options->filter, profile),
    };
    uint32_t *keys = calloc(profile->nr_stacks + 1, sizeof *keys);
    for (size_t i = 0; keys && i < profile->nr_stacks; i++)
        keys[i] = side->shared[profile->stacks[i].function];
    if (keys)
        side->repeated = yarn_stacks_repeated(profile, keys);
    free(keys);
    if (side->threads && side->functions && side->repeated)
        return 0;
    side_fini(side);
    return -ENOMEM;
}

static void add(struct builder *builder, const struct side *side, enum yarn_diff_part part,
                uint32_t function, struct yarn_diff_sum more)
{
    if (!side->functions[function])
        return;
    struct yarn_diff_sum *sum = &builder->sums[side->shared[function]].sums[part][side->number];
    sum->weight += more.weight;
    sum->samples += more.samples;
}

/* Leaves, and what stands for stacks or root sides that are missing. */
static void add_cells(struct builder *builder, const struct side *side, uint32_t event)
{
    const struct yarn_profile *profile = side->profile;
    for (size_t i = 0; i < profile->cells.count; i++) {
        const struct yarn_cell *cell = &profile->cells.cells[i];
        struct yarn_diff_sum more = {cell->weight, cell->samples};
        if (cell->event != event || !side->threads[cell->thread])
            continue;
        if (cell->stack == YARN_DUMP_NONE) {
            add(builder, side, YARN_DIFF_SELF, YARN_FUNCTION_NO_STACK, more);
            add(builder, side, YARN_DIFF_TOTAL, YARN_FUNCTION_NO_STACK, more);
            continue;
        }
        add(builder, side, YARN_DIFF_SELF, profile->stacks[cell->stack].function, more);
        uint32_t root = yarn_profile_root_of(cell->stack_end);
        if (root != YARN_DUMP_NONE)
            add(builder, side, YARN_DIFF_TOTAL, root, more);
    }
}

static int add_side(struct builder *builder, const struct side *side, uint32_t event)
{
    const struct yarn_profile *profile = side->profile;
    struct yarn_stack_choice choice = {.event = event, .threads = side->threads};
    if (event == YARN_DUMP_NONE)
        return 0;
    struct yarn_stack_sum *sums = yarn_stack_sums(profile, &choice);
    if (!sums)
        return -ENOMEM;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        struct yarn_diff_sum more = {sums[i].total, sums[i].samples};
        if (more.samples && !side->repeated[i])
            add(builder, side, YARN_DIFF_TOTAL, profile->stacks[i].function, more);
    }
    free(sums);
    add_cells(builder, side, event);
    return 0;
}

static void compare(const struct builder *builder, struct yarn_diff_row *row)
{
    const struct yarn_diff_event *event = &builder->diff->events[row->event];
    for (size_t part = 0; part < YARN_DIFF_PART_COUNT; part++) {
        row->changes[YARN_DIFF_SHARES][part] =
            yarn_change_of_shares(row->sums[part], event->totals);
        row->changes[YARN_DIFF_SECONDS][part] =
            yarn_change_of_rates(row->sums[part], event->totals, builder->options->seconds);
    }
}

/* Moves the sums of one event into rows, and empties them. */
static int take_rows(struct builder *builder, uint32_t event)
{
    struct yarn_diff *diff = builder->diff;
    for (uint32_t i = 0; i < diff->match.count; i++) {
        struct yarn_diff_row *sum = &builder->sums[i];
        const struct yarn_diff_sum *totals = sum->sums[YARN_DIFF_TOTAL];
        if (!totals[0].samples && !totals[1].samples)
            continue;
        struct yarn_diff_row *rows =
            yarn_array_grow(diff->rows, &diff->capacity, diff->count + 1, sizeof *rows);
        if (!rows)
            return -ENOMEM;
        diff->rows = rows;
        sum->event = event;
        sum->function = i;
        compare(builder, sum);
        rows[diff->count++] = *sum;
        *sum = (struct yarn_diff_row){0};
    }
    return 0;
}

static int in_order(const void *left, const void *right, void *self)
{
    const struct yarn_diff_row *a = left, *b = right;
    const struct builder *builder = self;
    enum yarn_diff_scale scale = builder->options->scale;
    enum yarn_diff_part part = builder->options->part;
    const struct yarn_change *x = &a->changes[scale][part], *y = &b->changes[scale][part];
    if (a->event != b->event)
        return a->event < b->event ? -1 : 1;
    if (x->is_noise != y->is_noise)
        return x->is_noise ? 1 : -1;
    if (fabs(x->change) != fabs(y->change))
        return fabs(x->change) > fabs(y->change) ? -1 : 1;
    const struct yarn_match_function *first = &builder->diff->match.functions[a->function];
    const struct yarn_match_function *second = &builder->diff->match.functions[b->function];
    int names = strcmp(first->name, second->name);
    if (!names)
        names = strcmp(first->module, second->module);
    return names ? names : a->function < b->function ? -1 : 1;
}

static int add_rows(struct builder *builder, const struct side sides[2])
{
    struct yarn_diff *diff = builder->diff;
    for (uint32_t event = 0; event < diff->nr_events; event++) {
        int err = add_side(builder, &sides[0], diff->events[event].numbers[0]);
        if (!err)
            err = add_side(builder, &sides[1], diff->events[event].numbers[1]);
        if (!err)
            err = take_rows(builder, event);
        if (err)
            return err;
    }
    if (diff->count)
        qsort_r(diff->rows, diff->count, sizeof *diff->rows, in_order, builder);
    return 0;
}

static int build(struct builder *builder)
{
    struct side sides[2];
    struct yarn_diff *diff = builder->diff;
    int err = yarn_match_build(builder->profiles[0], builder->profiles[1], &diff->match);
    if (!err)
        err = add_events(builder);
    if (err)
        return err;
    builder->sums = calloc(diff->match.count + 1, sizeof *builder->sums);
    if (!builder->sums)
        return -ENOMEM;
    err = side_init(&sides[0], builder, 0);
    if (err)
        return err;
    err = side_init(&sides[1], builder, 1);
    if (!err) {
        err = add_rows(builder, sides);
        side_fini(&sides[1]);
    }
    side_fini(&sides[0]);
    return err;
}

int yarn_diff_build(const struct yarn_profile *const profiles[2],
                    const struct yarn_diff_options *options, struct yarn_diff *ret_diff)
{
    struct yarn_diff diff = {0};
    struct builder builder = {.profiles = profiles, .options = options, .diff = &diff};
    int err = build(&builder);
    free(builder.sums);
    if (err) {
        yarn_diff_fini(&diff);
        return err;
    }
    *ret_diff = diff;
    return 0;
}

void yarn_diff_fini(struct yarn_diff *diff)
{
    yarn_match_fini(&diff->match);
    free(diff->events);
    free(diff->rows);
    *diff = (struct yarn_diff){0};
}
