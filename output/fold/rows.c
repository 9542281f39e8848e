/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/rows.h"

#include <stdlib.h>

#include "output/fold/stack_sums.h"
#include "output/store/array.h"

struct builder {
    const struct yarn_choice *choice;
    const struct yarn_profile *profile; /* the choice's */
    enum yarn_by by;
    const struct yarn_by_key *key; /* of it */
    uint32_t *keys;                /* owned: of stacks; YARN_DUMP_NONE: hidden */
    uint8_t *repeated;             /* owned: stacks whose key is further out as well */
    struct yarn_row *sums;         /* owned: of one event, by key */
    size_t nr_keys;
};

static void builder_fini(struct builder *builder)
{
    free(builder->keys);
    free(builder->repeated);
    free(builder->sums);
}

static uint32_t key_of_stack(const struct builder *builder, uint32_t number)
{
    const struct yarn_profile *profile = builder->profile;
    const struct yarn_profile_stack *stack = &profile->stacks[number];
    if (!builder->choice->functions[stack->function])
        return YARN_DUMP_NONE;
    return builder->key->of_stack(profile, stack);
}

/* Their places have the same numbers, and they belong to module 0. */
static uint32_t key_of_pseudo(const struct builder *builder, uint32_t function)
{
    if (!builder->choice->functions[function])
        return YARN_DUMP_NONE;
    return builder->by == YARN_BY_MODULE ? 0 : function;
}

static int builder_init(struct builder *builder, const struct yarn_choice *choice, enum yarn_by by)
{
    const struct yarn_profile *profile = choice->profile;
    const struct yarn_by_key *key = yarn_by_key(by);
    size_t nr_keys = key->count(profile);
    *builder = (struct builder){
        .choice = choice,
        .profile = profile,
        .by = by,
        .key = key,
        .keys = calloc(profile->nr_stacks + 1, sizeof *builder->keys),
        .sums = calloc(nr_keys + 1, sizeof *builder->sums),
        .nr_keys = nr_keys,
    };
    bool is_whole = builder->keys && builder->sums;
    for (uint32_t i = 0; is_whole && key->of_stack && i < profile->nr_stacks; i++)
        builder->keys[i] = key_of_stack(builder, i);
    if (is_whole && key->of_stack)
        is_whole = (builder->repeated = yarn_stacks_repeated(profile, builder->keys)) != NULL;
    if (!is_whole)
        builder_fini(builder);
    return is_whole ? 0 : -ENOMEM;
}

static void add_self(struct yarn_row *row, const struct yarn_cell *cell)
{
    row->self += cell->weight;
    row->samples += cell->samples;
}

static void add_total(struct yarn_row *row, const struct yarn_cell *cell)
{
    row->total += cell->weight;
    row->total_samples += cell->samples;
    row->latency += cell->latency;
}

/* What is on top of the stacks, and what stands for stacks, or their root sides, that are missing.
 * A module has none of the latter: what is missing could be anywhere. */
static void add_ends(struct builder *builder, uint32_t event)
{
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(builder->choice, event, &at));) {
        bool has_stack = cell->stack != YARN_DUMP_NONE;
        uint32_t root = yarn_profile_root_of(cell->stack, cell->stack_end);
        uint32_t key = root == YARN_DUMP_NONE ? root : key_of_pseudo(builder, root);
        uint32_t leaf = has_stack ? builder->keys[cell->stack] : key;
        if (leaf != YARN_DUMP_NONE)
            add_self(&builder->sums[leaf], cell);
        if (key != YARN_DUMP_NONE && !(has_stack && builder->by == YARN_BY_MODULE))
            add_total(&builder->sums[key], cell);
    }
}

static int add_by_stack(struct builder *builder, uint32_t event)
{
    const struct yarn_profile *profile = builder->profile;
    struct yarn_stack_sum *sums = yarn_stack_sums(builder->choice, event);
    if (!sums)
        return -ENOMEM;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        uint32_t key = builder->keys[i];
        if (!sums[i].samples || key == YARN_DUMP_NONE || builder->repeated[i])
            continue;
        builder->sums[key].total += sums[i].total;
        builder->sums[key].total_samples += sums[i].samples;
    }
    free(sums);
    add_ends(builder, event);
    return 0;
}

/* Where functions are filtered, `self` is what they spent and `total` what was spent below them. */
static void add_by_cell(struct builder *builder, uint32_t event)
{
    const struct yarn_profile *profile = builder->profile;
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(builder->choice, event, &at));) {
        struct yarn_row *row = &builder->sums[builder->key->of_cell(profile, cell)];
        uint32_t leaf = cell->stack == YARN_DUMP_NONE ? YARN_FUNCTION_NO_STACK
                                                      : profile->stacks[cell->stack].function;
        add_total(row, cell);
        if (builder->choice->functions[leaf])
            add_self(row, cell);
    }
}

/* Moves the sums of one event into rows, and empties them. */
static int take_rows(struct builder *builder, uint32_t event, struct yarn_rows *rows)
{
    for (size_t i = 0; i < builder->nr_keys; i++) {
        struct yarn_row *sum = &builder->sums[i];
        if (!sum->total_samples)
            continue;
        if (YARN_ARRAY_RESERVE(&rows->rows, &rows->capacity, rows->count + 1))
            return -ENOMEM;
        rows->rows[rows->count] = *sum;
        rows->rows[rows->count].event = event;
        rows->rows[rows->count].key = (uint32_t)i;
        rows->count++;
        *sum = (struct yarn_row){0};
    }
    return 0;
}

static int add_events(struct builder *builder, struct yarn_rows *rows)
{
    int err = 0;
    for (uint32_t event = 0; !err && event < builder->profile->nr_events; event++) {
        if (!builder->choice->events[event] || !builder->profile->events[event].samples)
            continue;
        if (builder->key->of_stack)
            err = add_by_stack(builder, event);
        else
            add_by_cell(builder, event);
        if (!err)
            err = take_rows(builder, event, rows);
    }
    return err;
}

const char *yarn_row_name(const struct yarn_profile *profile, enum yarn_by by,
                          const struct yarn_row *row)
{
    const struct yarn_by_key *key = yarn_by_key(by);
    return key->name ? yarn_profile_text(profile, key->name(profile, row->key)) : "";
}

struct order {
    const struct yarn_profile *profile;
    enum yarn_by by;
    bool total_first, total_second;
};

static int compare(const void *a, const void *b, void *context)
{
    const struct yarn_row *one = a, *other = b;
    const struct order *order = context;
    if (one->event != other->event)
        return one->event < other->event ? -1 : 1;
    if (order->total_first && one->total != other->total)
        return one->total > other->total ? -1 : 1;
    if (one->self != other->self)
        return one->self > other->self ? -1 : 1;
    if (order->total_second && one->total != other->total)
        return one->total > other->total ? -1 : 1;
    int names = strcmp(yarn_row_name(order->profile, order->by, one),
                       yarn_row_name(order->profile, order->by, other));
    if (names)
        return names;
    return one->key < other->key ? -1 : one->key > other->key;
}

static void sort_rows(struct yarn_rows *rows, struct order order)
{
    order.by = rows->by;
    if (rows->count)
        qsort_r(rows->rows, rows->count, sizeof *rows->rows, compare, &order);
}

void yarn_rows_sort_by_total(const struct yarn_profile *profile, struct yarn_rows *rows)
{
    sort_rows(rows, (struct order){.profile = profile, .total_first = true});
}

void yarn_rows_sort_by_self_and_total(const struct yarn_profile *profile, struct yarn_rows *rows)
{
    sort_rows(rows, (struct order){.profile = profile, .total_second = true});
}

int yarn_rows_build(const struct yarn_choice *choice, enum yarn_by by, struct yarn_rows *ret_rows)
{
    struct yarn_rows rows = {.by = by};
    struct builder builder;
    int err = builder_init(&builder, choice, by);
    if (err)
        return err;
    err = add_events(&builder, &rows);
    builder_fini(&builder);
    if (err) {
        yarn_rows_fini(&rows);
        return err;
    }
    sort_rows(&rows, (struct order){.profile = choice->profile});
    *ret_rows = rows;
    return 0;
}

void yarn_rows_fini(struct yarn_rows *rows)
{
    free(rows->rows);
    *rows = (struct yarn_rows){0};
}
