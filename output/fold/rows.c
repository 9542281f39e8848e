/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/rows.h"

#include <stdlib.h>

#include "output/base/array.h"
#include "output/fold/fold.h"

/* ---- keys ---- */

static const struct yarn_by_key all_keys[YARN_BY_COUNT] = {
    [YARN_BY_FUNCTION] = {"function", "FUNCTION", "MODULE", .is_of_frame = true},
    [YARN_BY_LINE] = {"line", "LINE", "FUNCTION", .is_of_frame = true},
    [YARN_BY_MODULE] = {"module", "MODULE", "PATH", .is_of_frame = true},
    [YARN_BY_THREAD] = {"thread", "THREAD", "TID", .needs_threads = true},
    [YARN_BY_PROCESS] = {"process", "PROCESS", "PID", .needs_threads = true},
    [YARN_BY_PROGRAM] = {"program", "PROGRAM", "", .needs_threads = true},
    [YARN_BY_COMMAND] = {"command", "COMMAND", "", .needs_threads = true},
    [YARN_BY_HOST] = {"host", "HOST", "", .needs_threads = true},
    [YARN_BY_RANK] = {"rank", "RANK", "", .needs_threads = true},
    [YARN_BY_CPU] = {"cpu", "CPU", "", .needs_threads = false},
    [YARN_BY_EVENT] = {"event", "EVENT", "", .needs_threads = false},
    [YARN_BY_ADDRESS] = {"address", "ADDRESS", "", .needs_threads = false},
    [YARN_BY_FIELD] = {NULL, "VALUE", "", .needs_threads = false},
};

const struct yarn_by_key *yarn_by_key(enum yarn_by by)
{
    return &all_keys[by];
}

size_t yarn_by_count(const struct yarn_profile *profile, enum yarn_by by)
{
    switch (by) {
    case YARN_BY_FUNCTION:
        return profile->nr_functions;
    case YARN_BY_LINE:
        return profile->places.count;
    case YARN_BY_MODULE:
        return profile->nr_modules;
    case YARN_BY_THREAD:
        return profile->nr_threads;
    case YARN_BY_PROCESS:
        return profile->nr_dumps;
    case YARN_BY_CPU:
        return (size_t)UINT16_MAX + 1;
    case YARN_BY_EVENT:
        return profile->nr_events;
    default:
        return profile->strings.count;
    }
}

uint32_t yarn_by_of_stack(const struct yarn_profile *profile, enum yarn_by by,
                          const struct yarn_profile_stack *stack)
{
    return by == YARN_BY_FUNCTION ? stack->function
           : by == YARN_BY_LINE   ? profile->frames[stack->frame].place
                                  : profile->functions[stack->function].module;
}

uint32_t yarn_by_of_cell(const struct yarn_profile *profile, enum yarn_by by,
                         const struct yarn_cell *cell)
{
    if (by == YARN_BY_THREAD)
        return cell->thread;
    if (by == YARN_BY_CPU)
        return cell->cpu;
    if (by == YARN_BY_EVENT)
        return cell->event;
    if (by == YARN_BY_ADDRESS || by == YARN_BY_FIELD)
        return cell->value;
    uint32_t number = profile->threads[cell->thread].dump;
    const struct yarn_profile_dump *dump = &profile->dumps[number];
    return by == YARN_BY_PROCESS   ? number
           : by == YARN_BY_PROGRAM ? dump->program
           : by == YARN_BY_COMMAND ? dump->command
           : by == YARN_BY_HOST    ? dump->host
                                   : dump->rank;
}

static uint32_t text_of(const struct yarn_profile *profile, enum yarn_by by, uint32_t key)
{
    switch (by) {
    case YARN_BY_FUNCTION:
        return profile->functions[key].name;
    case YARN_BY_LINE:
        return profile->places.places[key].name;
    case YARN_BY_MODULE:
        return profile->modules[key].base;
    case YARN_BY_THREAD:
        return profile->threads[key].comm;
    case YARN_BY_PROCESS:
        return profile->dumps[key].program;
    case YARN_BY_EVENT:
        return profile->events[key].name;
    default:
        return key;
    }
}

const char *yarn_by_name(const struct yarn_profile *profile, enum yarn_by by, uint32_t key)
{
    return by == YARN_BY_CPU ? "" : yarn_profile_text(profile, text_of(profile, by, key));
}

bool yarn_by_parse(const char *word, enum yarn_by *ret_by)
{
    for (size_t i = 0; i < YARN_BY_COUNT; i++) {
        if (all_keys[i].word && strcmp(all_keys[i].word, word) == 0) {
            *ret_by = (enum yarn_by)i;
            return true;
        }
    }
    return false;
}

/* ---- rows ---- */

struct builder {
    const struct yarn_choice *choice;
    const struct yarn_profile *profile; /* the choice's */
    enum yarn_by by;
    struct yarn_fold fold;     /* where the key is of a stack's frame */
    struct yarn_group *groups; /* owned: of one event, by key */
    size_t nr_keys;
};

static void builder_fini(struct builder *builder)
{
    yarn_fold_fini(&builder->fold);
    free(builder->groups);
}

/* Functions that do not pass are in no row. Places of pseudo-functions have the same numbers, and
 * they belong to module 0, which has nothing around a stack: what is missing could be anywhere. */
static int fold_init(struct builder *builder)
{
    const struct yarn_profile *profile = builder->profile;
    const uint8_t *functions = builder->choice->functions;
    uint32_t *keys = calloc(profile->nr_stacks + 1, sizeof *keys);
    for (uint32_t i = 0; keys && i < profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &profile->stacks[i];
        keys[i] = functions[stack->function] ? yarn_by_of_stack(profile, builder->by, stack)
                                             : YARN_DUMP_NONE;
    }
    int err = yarn_fold_init(&builder->fold, profile, keys);
    for (uint32_t i = 0; !err && i < YARN_FUNCTION_PSEUDO_COUNT; i++)
        if (functions[i])
            builder->fold.roots[i] = builder->by == YARN_BY_MODULE ? 0 : i;
    builder->fold.has_no_root_sides = builder->by == YARN_BY_MODULE;
    return err;
}

static int builder_init(struct builder *builder, const struct yarn_choice *choice, enum yarn_by by)
{
    size_t nr_keys = yarn_by_count(choice->profile, by);
    *builder = (struct builder){
        .choice = choice,
        .profile = choice->profile,
        .by = by,
        .groups = calloc(nr_keys + 1, sizeof *builder->groups),
        .nr_keys = nr_keys,
    };
    int err = builder->groups ? 0 : -ENOMEM;
    if (!err && yarn_by_key(by)->is_of_frame)
        err = fold_init(builder);
    if (err)
        builder_fini(builder);
    return err;
}

/* `self`, where functions are filtered, is what they spent, and `total` what was spent below them.
 */
static void add_by_cell(struct builder *builder, uint32_t event)
{
    const struct yarn_profile *profile = builder->profile;
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(builder->choice, event, &at));) {
        struct yarn_sum more = yarn_sum_of(cell);
        uint32_t key = yarn_by_of_cell(profile, builder->by, cell);
        uint32_t leaf = cell->stack == YARN_DUMP_NONE ? YARN_FUNCTION_NO_STACK
                                                      : profile->stacks[cell->stack].function;
        yarn_group_add_total(&builder->groups[key], &more);
        builder->groups[key].latency += cell->latency;
        if (builder->choice->functions[leaf])
            yarn_group_add_self(&builder->groups[key], &more);
    }
}

/* Moves the groups of one event into rows, and empties them. */
static int take_rows(struct builder *builder, uint32_t event, struct yarn_rows *rows)
{
    int err = 0;
    for (uint32_t i = 0; !err && i < builder->nr_keys; i++) {
        struct yarn_group *group = &builder->groups[i];
        if (!group->total_samples)
            continue;
        struct yarn_row row = {
            .event = event,
            .key = i,
            .self = group->self,
            .total = group->total,
            .samples = group->samples,
            .total_samples = group->total_samples,
            .latency = group->latency,
        };
        *group = (struct yarn_group){0};
        err = YARN_ARRAY_PUT(&rows->rows, &rows->count, &rows->capacity, &row);
    }
    return err;
}

static int add_events(struct builder *builder, struct yarn_rows *rows)
{
    int err = 0;
    for (uint32_t event = 0; !err && event < builder->profile->nr_events; event++) {
        if (!builder->choice->events[event] || !builder->profile->events[event].samples)
            continue;
        if (yarn_by_key(builder->by)->is_of_frame)
            err = yarn_fold_add(&builder->fold, builder->choice, event, builder->groups);
        else
            add_by_cell(builder, event);
        if (!err)
            err = take_rows(builder, event, rows);
    }
    return err;
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
    int names = strcmp(yarn_by_name(order->profile, order->by, one->key),
                       yarn_by_name(order->profile, order->by, other->key));
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
