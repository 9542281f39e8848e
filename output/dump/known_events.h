/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The events that a process of a dump has defined so far, by number. An alternate (alternate_of in
 * FORMAT.md) and the event whose alternate it is become one here, under that event's number,
 * whoever reads the dump: nothing behind the reader has to know of it.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/types.h"

struct yarn_dump_known_event {
    struct yarn_dump_count count; /* its own last one */
    uint64_t kind;                /* a hash of what two that are one have in common: name, unit */
    uint16_t other;               /* 1 + the number of its alternate, or whose alternate it is */
    bool is_known, is_alternate;
};

struct yarn_dump_known_events {
    struct yarn_dump_known_event *list; /* owned; by number */
    size_t count;
};

/* Begins empty: all zero. Idempotent. */
void yarn_dump_known_events_close(struct yarn_dump_known_events *events);

/* Defines it, or defines it anew. False where there is no memory for it. */
bool yarn_dump_known_events_add(struct yarn_dump_known_events *events,
                                const struct yarn_dump_event *record);

static inline bool yarn_dump_known_events_has(const struct yarn_dump_known_events *events,
                                              uint64_t number)
{
    return number < events->count && events->list[number].is_known;
}

/* Of one that is known: the event that it is part of, which is mostly itself. */
static inline uint32_t yarn_dump_known_events_first(const struct yarn_dump_known_events *events,
                                                    uint32_t number)
{
    const struct yarn_dump_known_event *event = &events->list[number];
    return event->is_alternate ? event->other - 1u : number;
}

/* Makes it the count of the event that it is part of. */
void yarn_dump_known_events_count(struct yarn_dump_known_events *events,
                                  struct yarn_dump_count *count);
