/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/events.h"

/* Public: libyarn shows it. */
#pragma GCC visibility push(default)
#include "core/include/yarn/event.h"
#pragma GCC visibility pop

enum { ARENA_BYTES = 1 << 20 };

static void report_fault(const struct yarn_parse_error *error, struct yarn_fault *ret_fault)
{
    if (!ret_fault)
        return;
    struct yarn_text text = yarn_text_of(ret_fault->text, sizeof ret_fault->text);
    ret_fault->at = error->at;
    ret_fault->size = error->size;
    yarn_text_add(&text, error->why);
}

int yarn_events_parse(const char *text, struct yarn_events **ret_events,
                      struct yarn_fault *ret_fault)
{
    struct yarn_arena arena = YARN_ARENA_CLOSED;
    struct yarn_parse_error error = {.why = "no memory"};
    if (!ret_events)
        return -EINVAL;
    yarn_arena_open(&arena, ARENA_BYTES);
    struct yarn_events *events = YARN_ARENA_NEW(&arena, struct yarn_events, 1);
    if (!events) {
        yarn_arena_close(&arena);
        return -ENOMEM;
    }
    events->arena = arena;
    if (!text)
        text = "";
    int err = yarn_event_list_parse(text, strlen(text), &events->arena, &events->list, &error);
    if (err) {
        report_fault(&error, ret_fault);
        yarn_events_free(events);
        return err;
    }
    *ret_events = events;
    return 0;
}

size_t yarn_events_count(const struct yarn_events *events)
{
    return events ? events->list.count : 0;
}

const char *yarn_events_name(const struct yarn_events *events, size_t index)
{
    return index < yarn_events_count(events) ? events->list.specs[index].name : NULL;
}

const char *yarn_events_asked(const struct yarn_events *events, size_t index)
{
    return index < yarn_events_count(events) ? events->list.specs[index].asked : NULL;
}

const char *yarn_events_unit(const struct yarn_events *events, size_t index)
{
    return index < yarn_events_count(events) ? events->list.specs[index].unit : NULL;
}

void yarn_events_free(struct yarn_events *events)
{
    if (!events)
        return;
    struct yarn_arena arena = events->arena; /* it lies in there itself */
    yarn_arena_close(&arena);
}

int yarn_event_spec_copy_texts(struct yarn_event_spec *spec, struct yarn_arena *arena)
{
    const char **texts[] = {&spec->asked, &spec->refusal,   &spec->event,
                            &spec->unit,  &spec->site.path, &spec->filter,
                            &spec->pmu,   &spec->cpus,      &spec->site.symbol};
    for (size_t i = 0; i < YARN_COUNT_OF(texts); i++) {
        const char *text = *texts[i];
        if (text && !(*texts[i] = yarn_arena_text(arena, text, strlen(text))))
            return -ENOMEM;
    }
    return 0;
}
