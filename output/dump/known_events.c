/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/known_events.h"

#include <stdlib.h>

void yarn_dump_known_events_close(struct yarn_dump_known_events *events)
{
    free(events->list);
    *events = (struct yarn_dump_known_events){NULL, 0};
}

static bool make_room(struct yarn_dump_known_events *events, uint32_t number)
{
    if (number < events->count)
        return true;
    size_t count = yarn_size_max((size_t)number + 1, events->count * 2);
    struct yarn_dump_known_event *grown = realloc(events->list, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + events->count, 0, (count - events->count) * sizeof *grown);
    events->list = grown;
    events->count = count;
    return true;
}

static uint64_t hash_of(struct yarn_span text)
{
    uint64_t hash = text.size;
    for (size_t i = 0; i < text.size; i++)
        hash = yarn_hash_u64(hash + text.data[i]);
    return hash;
}

static void part(struct yarn_dump_known_events *events, struct yarn_dump_known_event *event)
{
    if (!event->other)
        return;
    struct yarn_dump_known_event *other = &events->list[event->other - 1];
    event->other = other->other = 0;
    event->is_alternate = other->is_alternate = false;
}

/* A dump may say anything: an event has one alternate, of its name and unit, which has none. */
static void join(struct yarn_dump_known_events *events, uint32_t number, uint32_t first)
{
    struct yarn_dump_known_event *alternate = &events->list[number];
    if (first == number || !yarn_dump_known_events_has(events, first) || alternate->other ||
        events->list[first].other || events->list[first].kind != alternate->kind)
        return;
    alternate->is_alternate = true;
    alternate->other = (uint16_t)(first + 1);
    events->list[first].other = (uint16_t)(number + 1);
}

bool yarn_dump_known_events_add(struct yarn_dump_known_events *events,
                                const struct yarn_dump_event *record)
{
    if (!make_room(events, record->number))
        return false;
    struct yarn_dump_known_event *event = &events->list[record->number];
    uint64_t kind = yarn_hash_u64(hash_of(record->name)) + hash_of(record->unit);
    /* Why not the first of two that comes again as it was: its alternate need not come again. */
    if (event->is_alternate || event->kind != kind)
        part(events, event);
    event->kind = kind;
    event->is_known = true;
    if (record->alternate_of)
        join(events, record->number, record->alternate_of - 1);
    return true;
}

void yarn_dump_known_events_count(struct yarn_dump_known_events *events,
                                  struct yarn_dump_count *count)
{
    struct yarn_dump_known_event *event = &events->list[count->event];
    event->count = *count;
    if (!event->other)
        return;
    const struct yarn_dump_count *other = &events->list[event->other - 1].count;
    count->event = yarn_dump_known_events_first(events, count->event);
    count->count += other->count;
    count->time_enabled_ns += other->time_enabled_ns;
    count->time_running_ns += other->time_running_ns;
    count->lost += other->lost;
    count->is_in_error |= other->is_in_error;
}
