/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Any bytes as YARN_EVENTS: a fault lies inside the text and has a reason; what is understood can
 * be described, and the description means the same.
 */
#include "core/event/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct yarn_arena arena;

static void require(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void check_fault(const struct yarn_parse_error *error, size_t size)
{
    require(error->at <= size && error->size <= size - error->at);
    require(error->why && error->why[0]);
}

static void check_spec(const struct yarn_event_spec *spec)
{
    static struct yarn_event_list again;
    static char buffer[1 << 20];
    struct yarn_parse_error error;
    struct yarn_event_spec rated = *spec;
    struct yarn_text text = yarn_text_of(buffer, sizeof buffer);

    require(spec->name[0] && spec->event && spec->asked && spec->unit);
    require(!(spec->period && spec->frequency) && spec->precise <= 3);
    yarn_event_spec_apply_rate(&rated, 999);
    require(!rated.period != !rated.frequency);
    require(!rated.is_clock || rated.period >= YARN_CLOCK_PERIOD_MIN_NS);

    yarn_event_spec_describe(spec, &text);
    require(!text.cut);
    require(yarn_event_list_parse(buffer, text.size, &arena, &again, &error) == 0);
    require(again.count == 1);
    require(spec->is_told_apart || strcmp(again.specs[0].name, spec->name) == 0);
    require(again.specs[0].type == spec->type && again.specs[0].config == spec->config);
    require(again.specs[0].period == spec->period && again.specs[0].frequency == spec->frequency);
    require(again.specs[0].exclude_kernel == spec->exclude_kernel);
    require(again.specs[0].callgraph.stack_bytes == spec->callgraph.stack_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct yarn_event_list list;
    struct yarn_parse_error error = {.why = NULL};

    if (!arena.base)
        yarn_arena_open(&arena, YARN_MIB(1));
    yarn_arena_rewind(&arena, 0);
    int err = yarn_event_list_parse((const char *)data, size, &arena, &list, &error);
    if (err == -EINVAL)
        check_fault(&error, size);
    for (size_t i = 0; !err && i < list.count; i++) {
        check_spec(&list.specs[i]);
        yarn_event_spec_fall_back(&list.specs[i]);
        require(!list.specs[i].is_auto);
    }
    return 0;
}
