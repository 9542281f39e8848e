/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/diff.h"

#include <math.h>
#include <stdlib.h>

#include "output/analysis/time/kernel_time.h"
#include "output/base/array.h"
#include "output/fold/change.h"
#include "output/fold/fold.h"

struct builder {
    const struct yarn_choice *choices; /* two */
    const struct yarn_diff_options *options;
    struct yarn_diff *diff;
    struct yarn_diff_row *sums; /* owned: of one event, by function of the match */
    struct yarn_group *run;     /* owned: of one run of one side, by the same */
    uint32_t kernel;            /* of the match: [kernel] */
};

/* One profile, with what is worked out before its events are added. */
struct side {
    size_t number;
    const struct yarn_profile *profile;
    const uint32_t *shared; /* borrowed: of each function, its number in the match */
    const struct yarn_choice *all;
    struct yarn_choice choice; /* of one run */
    uint8_t *chosen;           /* owned: its threads */
    struct yarn_fold fold;     /* functions that pass, by their number in the match */
    struct yarn_clusters clusters;
};

static bool is_recorded(const struct yarn_profile *profile, const struct yarn_diff_event *event)
{
    for (size_t i = 0; i < profile->nr_events; i++) {
        const struct yarn_profile_event *its = &profile->events[i];
        if (its->was_opened && strcmp(yarn_profile_text(profile, its->name), event->name) == 0 &&
            strcmp(yarn_profile_text(profile, its->unit), event->unit) == 0)
            return true;
    }
    return false;
}

static int add_event(struct builder *builder, size_t side, uint32_t number)
{
    const struct yarn_profile *profile = builder->choices[side].profile;
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
        for (size_t i = 0; i < 2; i++)
            added.is_missing[i] = !is_recorded(builder->choices[i].profile, &added);
        if (YARN_ARRAY_PUT(&diff->events, &diff->nr_events, &diff->events_capacity, &added))
            return -ENOMEM;
    }
    diff->events[at].numbers[side] = number;
    diff->events[at].totals[side] =
        (struct yarn_diff_sum){.weight = event->total, .samples = event->samples};
    return 0;
}

static int add_events(struct builder *builder)
{
    int err = 0;
    for (size_t side = 0; side < 2; side++) {
        const struct yarn_choice *choice = &builder->choices[side];
        for (uint32_t i = 0; !err && i < choice->profile->nr_events; i++) {
            if (choice->profile->events[i].samples && choice->events[i])
                err = add_event(builder, side, i);
        }
    }
    return err;
}

static void side_fini(struct side *side)
{
    yarn_fold_fini(&side->fold);
    free(side->chosen);
    yarn_clusters_fini(&side->clusters);
}

static int init_fold(struct side *side)
{
    const struct yarn_profile *profile = side->profile;
    const uint8_t *passes = side->all->functions;
    uint32_t *keys = calloc(profile->nr_stacks + 1, sizeof *keys);
    for (size_t i = 0; keys && i < profile->nr_stacks; i++) {
        uint32_t function = profile->stacks[i].function;
        keys[i] = passes[function] ? side->shared[function] : YARN_DUMP_NONE;
    }
    int err = yarn_fold_init(&side->fold, profile, keys);
    for (uint32_t i = 0; !err && i < YARN_FUNCTION_PSEUDO_COUNT; i++)
        side->fold.roots[i] = passes[i] ? side->shared[i] : YARN_DUMP_NONE;
    return err;
}

static int side_init(struct side *side, const struct builder *builder, size_t number)
{
    const struct yarn_diff_options *options = builder->options;
    const struct yarn_choice *all = &builder->choices[number];
    const struct yarn_profile *profile = all->profile;
    *side = (struct side){
        .number = number,
        .profile = profile,
        .shared = builder->diff->match.numbers[number],
        .all = all,
        .choice = *all,
        .chosen = calloc(profile->nr_threads + 1, 1),
    };
    side->choice.threads = side->chosen;
    int err = side->chosen ? init_fold(side) : -ENOMEM;
    if (!err)
        err = yarn_clusters_build(profile, options->from_ns[number], options->to_ns[number],
                                  &side->clusters);
    if (err)
        side_fini(side);
    return err;
}

/* A run's sum, whose bases are those of the whole run, joins the others. */
static void join(struct yarn_diff_sum *sum, struct yarn_sum run,
                 const double bases[YARN_DIFF_SCALE_COUNT])
{
    double spent = (double)run.weight;
    sum->weight += run.weight;
    sum->samples += run.samples;
    sum->squares += run.squares;
    sum->runs.squares += spent * spent;
    for (size_t scale = 0; scale < YARN_DIFF_SCALE_COUNT; scale++)
        sum->runs.products[scale] += spent * bases[scale];
}

/* `bases`: of the run, whose groups are empty then. */
static void join_run(struct builder *builder, const struct side *side, const struct yarn_sum *whole,
                     double bases[YARN_DIFF_SCALE_COUNT])
{
    for (size_t i = 0; i < builder->diff->match.count; i++) {
        struct yarn_diff_row *sums = &builder->sums[i];
        struct yarn_group run = builder->run[i];
        if (!run.total && !run.total_samples)
            continue;
        struct yarn_sum self = {run.self, run.samples, run.squares};
        struct yarn_sum total = {run.total, run.total_samples, run.total_squares};
        bases[YARN_DIFF_SHARES] =
            (double)(whole->weight + (i == builder->kernel ? self.weight : 0));
        join(&sums->sums[YARN_DIFF_SELF][side->number], self, bases);
        join(&sums->sums[YARN_DIFF_TOTAL][side->number], total, bases);
        builder->run[i] = (struct yarn_group){0};
    }
}

/* The event's sum over all threads of one run; YARN_DUMP_NONE: of all runs. */
static struct yarn_sum whole_of(const struct side *side, uint32_t event, uint32_t run)
{
    const struct yarn_profile *profile = side->profile;
    struct yarn_sum whole = {0};
    for (size_t i = 0; i < profile->cells.count; i++) {
        const struct yarn_cell *cell = &profile->cells.cells[i];
        uint32_t of = side->clusters.of_dump[profile->threads[cell->thread].dump];
        if (cell->event != event || (run != YARN_DUMP_NONE && of != run))
            continue;
        struct yarn_sum more = yarn_sum_of(cell);
        yarn_sum_add(&whole, &more);
    }
    return whole;
}

/* The kernel's time, as if it had been sampled once a period. */
static struct yarn_sum kernel_of(const struct builder *builder, const struct side *side,
                                 uint32_t event, uint32_t run)
{
    const struct yarn_profile *profile = side->profile;
    uint64_t ns = 0, period_ns = yarn_u64_max(profile->events[event].period, 1);
    if (builder->options->is_part || yarn_kernel_time_event(profile) != event)
        return (struct yarn_sum){0};
    for (size_t i = 0; i < profile->nr_dumps; i++)
        if (run == YARN_DUMP_NONE || side->clusters.of_dump[i] == run)
            ns += profile->dumps[i].trust.kernel_ns;
    return (struct yarn_sum){
        .weight = ns,
        .squares = (double)ns * (double)period_ns,
    };
}

static void add_whole(struct yarn_diff_sum *total, const struct yarn_sum *whole)
{
    total->squares += whole->squares;
    total->runs.squares += (double)whole->weight * (double)whole->weight;
}

/* The kernel's part is a share of itself and what was sampled. */
static void add_kernel(struct builder *builder, const struct side *side,
                       struct yarn_diff_event *event, const struct yarn_sum *sampled,
                       const double bases[YARN_DIFF_SCALE_COUNT], struct yarn_sum kernel)
{
    struct yarn_group *group = &builder->run[builder->kernel];
    yarn_group_add_self(group, &kernel);
    yarn_group_add_total(group, &kernel);
    yarn_sum_add(&kernel, sampled);
    join(&event->wholes[side->number], kernel, bases);
}

static void bases_of(const struct side *side, uint32_t run, double ret_bases[YARN_DIFF_SCALE_COUNT])
{
    static const struct yarn_cluster none;
    const struct yarn_cluster *cluster =
        run == YARN_DUMP_NONE ? &none : &side->clusters.clusters[run];
    ret_bases[YARN_DIFF_SHARES] = 0; /* the event's */
    ret_bases[YARN_DIFF_SECONDS] = cluster->seconds;
    ret_bases[YARN_DIFF_RUNS] = cluster->runs;
    ret_bases[YARN_DIFF_MARKS] = cluster->marks;
}

static int add_run(struct builder *builder, struct side *side, struct yarn_diff_event *event,
                   uint32_t run)
{
    const struct yarn_profile *profile = side->profile;
    uint32_t number = event->numbers[side->number];
    struct yarn_sum whole = whole_of(side, number, run);
    for (size_t i = 0; i < profile->nr_threads; i++) {
        uint32_t of = side->clusters.of_dump[profile->threads[i].dump];
        side->chosen[i] = side->all->threads[i] && (run == YARN_DUMP_NONE || of == run);
    }
    double bases[YARN_DIFF_SCALE_COUNT];
    bases_of(side, run, bases);
    int err = yarn_fold_add(&side->fold, &side->choice, number, builder->run);
    add_kernel(builder, side, event, &whole, bases, kernel_of(builder, side, number, run));
    join_run(builder, side, &whole, bases);
    add_whole(&event->totals[side->number], &whole);
    return err;
}

static int add_side(struct builder *builder, struct side *side, struct yarn_diff_event *event)
{
    int err = 0;
    if (event->numbers[side->number] == YARN_DUMP_NONE)
        return 0;
    if (!builder->diff->is_by_runs)
        return add_run(builder, side, event, YARN_DUMP_NONE);
    for (uint32_t run = 0; !err && run < side->clusters.count; run++)
        err = add_run(builder, side, event, run);
    return err;
}

static struct yarn_diff_bases sum_bases(const struct side *side)
{
    struct yarn_diff_bases sum = {.nr_runs = side->clusters.count};
    for (uint32_t run = 0; run < side->clusters.count; run++) {
        double bases[YARN_DIFF_SCALE_COUNT];
        bases_of(side, run, bases);
        for (size_t scale = 0; scale < YARN_DIFF_SCALE_COUNT; scale++) {
            sum.sums[scale] += bases[scale];
            sum.squares[scale] += bases[scale] * bases[scale];
        }
    }
    return sum;
}

static void compare(const struct builder *builder, struct yarn_diff_row *row)
{
    const struct yarn_diff *diff = builder->diff;
    const struct yarn_diff_sum *totals = row->function == builder->kernel
                                             ? diff->events[row->event].wholes
                                             : diff->events[row->event].totals;
    for (size_t scale = 0; scale < YARN_DIFF_SCALE_COUNT; scale++) {
        for (size_t part = 0; part < YARN_DIFF_PART_COUNT; part++)
            row->changes[scale][part] = yarn_change_of((enum yarn_diff_scale)scale, row->sums[part],
                                                       totals, diff->bases, diff->is_by_runs);
    }
}

/* Moves the sums of one event into rows, and empties them. */
static int take_rows(struct builder *builder, uint32_t event)
{
    struct yarn_diff *diff = builder->diff;
    for (uint32_t i = 0; i < diff->match.count; i++) {
        struct yarn_diff_row *sum = &builder->sums[i];
        const struct yarn_diff_sum *totals = sum->sums[YARN_DIFF_TOTAL];
        bool is_kernel = i == builder->kernel && (totals[0].weight || totals[1].weight);
        if (!totals[0].samples && !totals[1].samples && !is_kernel)
            continue;
        if (YARN_ARRAY_RESERVE(&diff->rows, &diff->capacity, diff->count + 1))
            return -ENOMEM;
        sum->event = event;
        sum->function = i;
        compare(builder, sum);
        diff->rows[diff->count++] = *sum;
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

static void compare_wholes(const struct yarn_diff *diff, struct yarn_diff_event *event)
{
    for (size_t scale = YARN_DIFF_SHARES + 1; scale < YARN_DIFF_SCALE_COUNT; scale++)
        event->changes[scale] = yarn_change_of((enum yarn_diff_scale)scale, event->wholes,
                                               event->wholes, diff->bases, diff->is_by_runs);
}

static int add_rows(struct builder *builder, struct side sides[2])
{
    struct yarn_diff *diff = builder->diff;
    for (uint32_t event = 0; event < diff->nr_events; event++) {
        if (yarn_diff_event_is_missing(&diff->events[event]))
            continue;
        int err = add_side(builder, &sides[0], &diff->events[event]);
        if (!err)
            err = add_side(builder, &sides[1], &diff->events[event]);
        compare_wholes(diff, &diff->events[event]);
        if (!err)
            err = take_rows(builder, event);
        if (err)
            return err;
    }
    if (diff->count)
        qsort_r(diff->rows, diff->count, sizeof *diff->rows, in_order, builder);
    return 0;
}

static int add_sides(struct builder *builder, struct side sides[2])
{
    struct yarn_diff *diff = builder->diff;
    for (size_t i = 0; i < 2; i++) {
        diff->bases[i] = sum_bases(&sides[i]);
        diff->nr_runs[i] = sides[i].clusters.nr_runs;
        diff->nr_processes[i] = sides[i].clusters.nr_processes;
    }
    diff->is_by_runs = diff->bases[0].nr_runs > 1 && diff->bases[1].nr_runs > 1;
    return add_rows(builder, sides);
}

static int build(struct builder *builder)
{
    struct side sides[2];
    struct yarn_diff *diff = builder->diff;
    int err =
        yarn_match_build(builder->choices[0].profile, builder->choices[1].profile, &diff->match);
    if (!err)
        err = yarn_match_add_pseudo(&diff->match, "[kernel]", &builder->kernel);
    if (!err)
        err = add_events(builder);
    if (err)
        return err;
    builder->sums = calloc(diff->match.count + 1, sizeof *builder->sums);
    builder->run = calloc(diff->match.count + 1, sizeof *builder->run);
    if (!builder->sums || !builder->run)
        return -ENOMEM;
    err = side_init(&sides[0], builder, 0);
    if (err)
        return err;
    err = side_init(&sides[1], builder, 1);
    if (!err) {
        err = add_sides(builder, sides);
        side_fini(&sides[1]);
    }
    side_fini(&sides[0]);
    return err;
}

int yarn_diff_build(const struct yarn_choice choices[2], const struct yarn_diff_options *options,
                    struct yarn_diff *ret_diff)
{
    struct yarn_diff diff = {0};
    struct builder builder = {.choices = choices, .options = options, .diff = &diff};
    int err = build(&builder);
    free(builder.sums);
    free(builder.run);
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
