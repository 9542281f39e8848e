/* SPDX-License-Identifier: Apache-2.0 */
#include "output/fold/calls.h"

#include <stdlib.h>

#include "core/event/trace_format.h"
#include "output/base/array.h"
#include "output/fold/fold.h"

struct builder {
    const struct yarn_choice *choice;
    const struct yarn_profile *profile; /* the choice's */
    uint8_t *is_handling;               /* owned: stacks that end in the handling of a probe */
};

static const char *text_of_module(const struct yarn_profile *profile, uint32_t function)
{
    uint32_t module = profile->functions[function].module;
    return yarn_profile_text(profile, profile->modules[module].base);
}

static bool is_of_kernel(const struct yarn_profile *profile, uint32_t function)
{
    return strcmp(text_of_module(profile, function), "[kernel.kallsyms]") == 0;
}

/* Functions through which the kernel goes for a breakpoint, its own or a debug register's, and for
 * nothing else. */
static bool is_probe_handling(const struct yarn_profile *profile, uint32_t function)
{
    static const char *const names[] = {"asm_exc_int3", "exc_int3", "asm_exc_debug", "exc_debug"};
    const char *name = yarn_profile_text(profile, profile->functions[function].name);
    if (strcmp(text_of_module(profile, function), "[uprobes]") == 0)
        return true;
    for (size_t i = 0; i < YARN_COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0)
            return is_of_kernel(profile, function);
    return false;
}

/* From the outside in: a stack ends in it where its frame is, or the one around is and it is the
 * kernel's. */
static void find_handling(struct builder *builder)
{
    const struct yarn_profile *profile = builder->profile;
    for (size_t i = 0; i < profile->nr_stacks; i++) {
        const struct yarn_profile_stack *stack = &profile->stacks[i];
        bool is_around = stack->parent != YARN_DUMP_NONE && builder->is_handling[stack->parent];
        builder->is_handling[i] = is_probe_handling(profile, stack->function) ||
                                  (is_around && is_of_kernel(profile, stack->function));
    }
}

/* The function that was probed: the innermost that is not part of the handling; YARN_DUMP_NONE
 * where the stack says nothing of it. */
static uint32_t probed_in(const struct builder *builder, uint32_t stack)
{
    while (stack != YARN_DUMP_NONE && builder->is_handling[stack])
        stack = builder->profile->stacks[stack].parent;
    return stack == YARN_DUMP_NONE ? stack : builder->profile->stacks[stack].function;
}

/* Whether each occurrence of one dump's event is a call. The fields of a probe at a
 * function's return have another name. */
static bool counts_calls(const struct yarn_dump_event *event)
{
    struct yarn_trace_field field;
    return event->flags & YARN_DUMP_EVENT_IS_CALL ||
           yarn_trace_format_find(event->format, yarn_span_of_text("__probe_ip"), &field);
}

static uint32_t find_clock(const struct yarn_profile *profile)
{
    for (uint32_t i = 0; i < profile->nr_events; i++)
        if (profile->events[i].samples &&
            strcmp(yarn_profile_text(profile, profile->events[i].unit), "ns") == 0)
            return i;
    return YARN_DUMP_NONE;
}

static struct yarn_call_row *row_of(struct yarn_calls *calls, uint32_t event)
{
    for (size_t i = 0; i < calls->count; i++)
        if (calls->rows[i].event == event)
            return &calls->rows[i];
    const struct yarn_call_row row = {.event = event, .function = YARN_DUMP_NONE};
    if (YARN_ARRAY_PUT(&calls->rows, &calls->count, &calls->capacity, &row))
        return NULL;
    return &calls->rows[calls->count - 1];
}

/* Rows, one a probe, with its exact count over all dumps. */
static int add_probes(const struct yarn_profile *profile, struct yarn_calls *calls)
{
    for (size_t i = 0; i < profile->nr_dumps; i++) {
        const struct yarn_profile_dump *dump = &profile->dumps[i];
        for (size_t e = 0; e < dump->nr_events; e++) {
            const struct yarn_profile_dump_event *event = &dump->events[e];
            if (event->record.error || !event->record.got.size || !counts_calls(&event->record))
                continue;
            struct yarn_call_row *row = row_of(calls, event->event);
            if (!row)
                return -ENOMEM;
            row->calls += event->has_count ? event->count.count : event->samples;
            calls->nr_hits += event->has_count ? event->count.count : event->samples;
        }
    }
    return 0;
}

/* A probe's function is the one in which most of its samples are. */
static int find_functions(const struct builder *builder, struct yarn_calls *calls)
{
    const struct yarn_profile *profile = builder->profile;
    uint64_t *most = calloc(calls->count + 1, sizeof *most);
    if (!most)
        return -ENOMEM;
    for (size_t i = 0; i < profile->cells.count; i++) {
        const struct yarn_cell *cell = &profile->cells.cells[i];
        for (size_t r = 0; r < calls->count; r++) {
            if (calls->rows[r].event != cell->event || cell->stack == YARN_DUMP_NONE ||
                cell->samples <= most[r])
                continue;
            uint32_t function = probed_in(builder, cell->stack);
            if (function == YARN_DUMP_NONE)
                continue;
            most[r] = cell->samples;
            calls->rows[r].function = function;
        }
    }
    free(most);
    return 0;
}

static void add_handling(struct builder *builder, struct yarn_calls *calls)
{
    const struct yarn_profile *profile = builder->profile;
    const struct yarn_cell *cell;
    for (size_t at = 0; (cell = yarn_choice_next(builder->choice, calls->clock, &at));) {
        if (cell->stack == YARN_DUMP_NONE)
            continue;
        calls->knows_probe_ns |= is_of_kernel(profile, profile->stacks[cell->stack].function);
        if (builder->is_handling[cell->stack])
            calls->probe_ns += cell->weight;
    }
}

/* All that passed in each function, but for what probes took. */
static int add_times(const struct builder *builder, struct yarn_calls *calls)
{
    const struct yarn_profile *profile = builder->profile;
    struct yarn_choice choice = *builder->choice;
    uint32_t *keys = malloc((profile->nr_stacks + 1) * sizeof *keys);
    struct yarn_group *groups = calloc(profile->nr_functions + 1, sizeof *groups);
    struct yarn_fold fold;
    for (size_t i = 0; keys && i < profile->nr_stacks; i++)
        keys[i] = profile->stacks[i].function;
    choice.left_out = builder->is_handling;
    int err = yarn_fold_init(&fold, profile, keys);
    if (!err)
        err = groups ? yarn_fold_add(&fold, &choice, calls->clock, groups) : -ENOMEM;
    for (size_t i = 0; !err && i < calls->count; i++) {
        struct yarn_call_row *row = &calls->rows[i];
        if (row->function == YARN_DUMP_NONE)
            continue;
        row->total_ns = groups[row->function].total;
        row->samples = groups[row->function].total_samples;
    }
    yarn_fold_fini(&fold);
    free(groups);
    return err;
}

static int compare(const void *a, const void *b)
{
    const struct yarn_call_row *one = a, *other = b;
    if (one->total_ns != other->total_ns)
        return one->total_ns > other->total_ns ? -1 : 1;
    return one->event < other->event ? -1 : one->event > other->event;
}

static int build(struct builder *builder, struct yarn_calls *calls)
{
    find_handling(builder);
    int err = add_probes(builder->profile, calls);
    if (!err)
        err = find_functions(builder, calls);
    calls->clock = find_clock(builder->profile);
    if (calls->clock == YARN_DUMP_NONE)
        return err;
    add_handling(builder, calls);
    if (!err)
        err = add_times(builder, calls);
    if (calls->count)
        qsort(calls->rows, calls->count, sizeof calls->rows[0], compare);
    return err;
}

int yarn_calls_build(const struct yarn_choice *choice, struct yarn_calls *ret_calls)
{
    struct builder builder = {
        .choice = choice,
        .profile = choice->profile,
        .is_handling = calloc(choice->profile->nr_stacks + 1, 1),
    };
    *ret_calls = (struct yarn_calls){.clock = YARN_DUMP_NONE};
    int err = builder.is_handling ? build(&builder, ret_calls) : -ENOMEM;
    free(builder.is_handling);
    if (err)
        yarn_calls_fini(ret_calls);
    return err;
}

void yarn_calls_fini(struct yarn_calls *calls)
{
    free(calls->rows);
    *calls = (struct yarn_calls){.clock = YARN_DUMP_NONE};
}
