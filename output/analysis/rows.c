/* SPDX-License-Identifier: Apache-2.0 */
#include "output/analysis/rows.h"

#include <stdlib.h>

#include "output/analysis/array.h"
#include "output/analysis/stack_sums.h"

struct builder {
    const struct yarn_profile *profile;
    enum yarn_by by;
    uint8_t *events, *threads, *functions; /* owned: what passes the filter */
    uint8_t *below;                        /* owned: stacks with a function that passes */
    struct yarn_row *sums;                 /* owned: of one event, by key */
    uint32_t *depth;                       /* owned: how often a key is on the path */
    const struct yarn_stack_sum *stacks;   /* of one event */
    size_t nr_keys;
};

static size_t count_keys(const struct yarn_profile *profile, enum yarn_by by)
{
    switch (by) {
    case YARN_BY_FUNCTION:
        return profile->nr_functions;
    case YARN_BY_MODULE:
        return profile->nr_modules;
    case YARN_BY_THREAD:
        return profile->nr_threads;
    case YARN_BY_PROCESS:
        return profile->nr_dumps;
    case YARN_BY_CPU:
        return (size_t)UINT16_MAX + 1;
    default:
        return profile->nr_events;
    }
}

static void builder_fini(struct builder *builder)
{
    free(builder->events);
    free(builder->threads);
    free(builder->functions);
    free(builder->below);
    free(builder->sums);
    free(builder->depth);
}

static int builder_init(struct builder *builder, const struct yarn_profile *profile,
                        const struct yarn_filter *filter, enum yarn_by by)
{
    size_t nr_keys = count_keys(profile, by);
    *builder = (struct builder){
        .profile = profile,
        .by = by,
        .events = yarn_filter_events(filter, profile),
        .threads = yarn_filter_threads(filter, profile),
        .functions = yarn_filter_functions(filter, profile),
        .sums = calloc(nr_keys + 1, sizeof *builder->sums),
        .depth = calloc(nr_keys + 1, sizeof *builder->depth),
        .nr_keys = nr_keys,
    };
    if (builder->functions)
        builder->below = yarn_stacks_with(profile, builder->functions);
    if (!builder->events || !builder->threads || !builder->functions || !builder->below ||
        !builder->sums || !builder->depth) {
        builder_fini(builder);
        return -ENOMEM;
    }
    return 0;
}

/* The key of a function's rows; YARN_DUMP_NONE where the filter hides it. */
static uint32_t key_of(const struct builder *builder, uint32_t function)
{
    if (!builder->functions[function])
        return YARN_DUMP_NONE;
    return builder->by == YARN_BY_FUNCTION ? function
                                           : builder->profile->functions[function].module;
}

static void enter_stack(void *self, uint32_t stack)
{
    struct builder *builder = self;
    uint32_t key = key_of(builder, builder->profile->stacks[stack].function);
    if (key == YARN_DUMP_NONE)
        return;
    const struct yarn_stack_sum *sum = &builder->stacks[stack];
    struct yarn_row *row = &builder->sums[key];
    row->self += sum->self;
    row->samples += sum->samples;
    if (builder->depth[key]++)
        return;
    row->total += sum->total;
    row->total_samples += sum->total_samples;
}

static void leave_stack(void *self, uint32_t stack)
{
    struct builder *builder = self;
    uint32_t key = key_of(builder, builder->profile->stacks[stack].function);
    if (key != YARN_DUMP_NONE)
        builder->depth[key]--;
}

static void add_total(struct builder *builder, uint32_t function, const struct yarn_cell *cell,
                      bool is_leaf)
{
    uint32_t key = key_of(builder, function);
    if (key == YARN_DUMP_NONE)
        return;
    struct yarn_row *row = &builder->sums[key];
    row->total += cell->weight;
    row->total_samples += cell->samples;
    row->self += is_leaf ? cell->weight : 0;
    row->samples += is_leaf ? cell->samples : 0;
}

/* What stands for missing stacks, and for the missing root side of stacks. A module has none of the
 * latter: what is missing could be anywhere. */
static void add_pseudo(struct builder *builder, uint32_t event)
{
    for (size_t i = 0; i < builder->profile->cells.count; i++) {
        const struct yarn_cell *cell = &builder->profile->cells.cells[i];
        if (cell->event != event || !builder->threads[cell->thread])
            continue;
        uint32_t root = yarn_profile_root_of(cell->stack_end);
        if (cell->stack == YARN_DUMP_NONE)
            add_total(builder, YARN_FUNCTION_NO_STACK, cell, true);
        else if (root != YARN_DUMP_NONE && builder->by == YARN_BY_FUNCTION)
            add_total(builder, root, cell, false);
    }
}

static int add_by_stack(struct builder *builder, uint32_t event,
                        const struct yarn_stack_links *links)
{
    struct yarn_stack_choice choice = {.event = event, .threads = builder->threads};
    struct yarn_stack_sum *sums = yarn_stack_sums(builder->profile, &choice);
    if (!sums)
        return -ENOMEM;
    builder->stacks = sums;
    yarn_stack_links_walk(links, builder->profile, sums, enter_stack, leave_stack, builder);
    add_pseudo(builder, event);
    builder->stacks = NULL;
    free(sums);
    return 0;
}

static uint32_t key_of_cell(const struct builder *builder, const struct yarn_cell *cell)
{
    switch (builder->by) {
    case YARN_BY_THREAD:
        return cell->thread;
    case YARN_BY_PROCESS:
        return builder->profile->threads[cell->thread].dump;
    case YARN_BY_CPU:
        return cell->cpu;
    default:
        return cell->event;
    }
}

/* Where functions are filtered, `self` is what they spent and `total` what was spent below them. */
static void add_by_cell(struct builder *builder, uint32_t event)
{
    const struct yarn_profile *profile = builder->profile;
    for (size_t i = 0; i < profile->cells.count; i++) {
        const struct yarn_cell *cell = &profile->cells.cells[i];
        if (cell->event != event || !builder->threads[cell->thread])
            continue;
        bool is_stack = cell->stack != YARN_DUMP_NONE;
        uint32_t leaf = is_stack ? profile->stacks[cell->stack].function : YARN_FUNCTION_NO_STACK;
        bool is_self = builder->functions[leaf];
        if (!is_self && !(is_stack && builder->below[cell->stack]))
            continue;
        struct yarn_row *row = &builder->sums[key_of_cell(builder, cell)];
        row->total += cell->weight;
        row->total_samples += cell->samples;
        row->self += is_self ? cell->weight : 0;
        row->samples += is_self ? cell->samples : 0;
    }
}

/* Moves the sums of one event into rows, and empties them. */
static int take_rows(struct builder *builder, uint32_t event, struct yarn_rows *rows)
{
    for (size_t i = 0; i < builder->nr_keys; i++) {
        struct yarn_row *sum = &builder->sums[i];
        if (!sum->total_samples)
            continue;
        struct yarn_row *grown =
            yarn_array_grow(rows->rows, &rows->capacity, rows->count + 1, sizeof *grown);
        if (!grown)
            return -ENOMEM;
        rows->rows = grown;
        grown[rows->count] = *sum;
        grown[rows->count].event = event;
        grown[rows->count].key = (uint32_t)i;
        rows->count++;
        *sum = (struct yarn_row){0};
    }
    return 0;
}

static int add_events(struct builder *builder, struct yarn_rows *rows)
{
    struct yarn_stack_links links;
    bool is_by_stack = builder->by == YARN_BY_FUNCTION || builder->by == YARN_BY_MODULE;
    int err = yarn_stack_links_init(&links, builder->profile);
    if (err)
        return err;
    for (uint32_t event = 0; !err && event < builder->profile->nr_events; event++) {
        if (!builder->events[event] || !builder->profile->events[event].samples)
            continue;
        if (is_by_stack)
            err = add_by_stack(builder, event, &links);
        else
            add_by_cell(builder, event);
        if (!err)
            err = take_rows(builder, event, rows);
    }
    yarn_stack_links_fini(&links);
    return err;
}

const char *yarn_row_name(const struct yarn_profile *profile, enum yarn_by by,
                          const struct yarn_row *row)
{
    switch (by) {
    case YARN_BY_FUNCTION:
        return yarn_profile_text(profile, profile->functions[row->key].name);
    case YARN_BY_MODULE:
        return yarn_profile_text(profile, profile->modules[row->key].base);
    case YARN_BY_THREAD:
        return yarn_profile_text(profile, profile->threads[row->key].comm);
    case YARN_BY_PROCESS:
        return yarn_profile_text(profile, profile->dumps[row->key].comm);
    case YARN_BY_EVENT:
        return yarn_profile_text(profile, profile->events[row->key].name);
    default:
        return "";
    }
}

struct order {
    const struct yarn_profile *profile;
    enum yarn_by by;
    bool is_by_total;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct yarn_row *one = a, *other = b;
    const struct order *order = context;
    if (one->event != other->event)
        return one->event < other->event ? -1 : 1;
    if (order->is_by_total && one->total != other->total)
        return one->total > other->total ? -1 : 1;
    if (one->self != other->self)
        return one->self > other->self ? -1 : 1;
    int names = strcmp(yarn_row_name(order->profile, order->by, one),
                       yarn_row_name(order->profile, order->by, other));
    if (names)
        return names;
    return one->key < other->key ? -1 : one->key > other->key;
}

static void sort_rows(const struct yarn_profile *profile, struct yarn_rows *rows, bool is_by_total)
{
    struct order order = {profile, rows->by, is_by_total};
    if (rows->count)
        qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare, &order);
}

void yarn_rows_sort_by_total(const struct yarn_profile *profile, struct yarn_rows *rows)
{
    sort_rows(profile, rows, true);
}

int yarn_rows_build(const struct yarn_profile *profile, const struct yarn_filter *filter,
                    enum yarn_by by, struct yarn_rows *ret_rows)
{
    struct yarn_rows rows = {.by = by};
    struct builder builder;
    int err = builder_init(&builder, profile, filter, by);
    if (err)
        return err;
    err = add_events(&builder, &rows);
    builder_fini(&builder);
    if (err) {
        yarn_rows_fini(&rows);
        return err;
    }
    sort_rows(profile, &rows, false);
    *ret_rows = rows;
    return 0;
}

void yarn_rows_fini(struct yarn_rows *rows)
{
    free(rows->rows);
    *rows = (struct yarn_rows){0};
}
