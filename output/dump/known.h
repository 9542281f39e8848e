/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The definitions of a dump so far, in this process and epoch: texts by number, where symbols
 * start, and which modules, events, frames and stacks there are. Bounded: what does not fit is
 * refused.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/span.h"
#include "output/dump/format.h"
#include "output/dump/texts.h"
#include "output/dump/types.h"

/* The events that a process of a dump has defined so far, by number. An alternate (alternate_of in
 * FORMAT.md) and the event whose alternate it is become one here, under that event's number,
 * whoever reads the dump: nothing behind the reader has to know of it. */

struct yarn_dump_known_event {
    struct yarn_dump_count count; /* its own last one */
    uint64_t kind;                /* a hash of what two that are one have in common: name, unit */
    uint16_t other;               /* 1 + the number of its alternate, or whose alternate it is */
    bool is_known, is_alternate;
};

struct yarn_dump_known_events {
    struct yarn_dump_known_event *list; /* owned; by number */
    size_t count, capacity;
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

/* A set of numbers. */
struct yarn_dump_set {
    uint64_t *words; /* owned */
    size_t nr_words, max_words;
    size_t nr_numbers; /* 1 + the highest */
};

struct yarn_dump_known {
    struct yarn_dump_set modules; /* of the process, as are events */
    struct yarn_dump_known_events events;
    struct yarn_dump_set strings, symbols, frames, stacks;
    struct yarn_span *texts; /* owned; by string number */
    size_t max_texts;
    uint64_t *symbol_starts; /* owned; by symbol number */
    size_t max_symbols;
    uint16_t *depths; /* owned; of stacks, in frames */
    size_t max_depths;
    struct yarn_texts kept;
};

/* Begins empty: all zero. Idempotent. */
void yarn_dump_known_close(struct yarn_dump_known *known);
/* A new epoch, and a new process. */
void yarn_dump_known_clear_epoch(struct yarn_dump_known *known);
void yarn_dump_known_clear_process(struct yarn_dump_known *known);

static inline bool yarn_dump_set_has(const struct yarn_dump_set *set, uint64_t number)
{
    return number / 64 < set->nr_words && (set->words[number / 64] >> (number % 64) & 1);
}

/* False where there is no memory for it. */
bool yarn_dump_set_add(struct yarn_dump_set *set, uint32_t number);

/* Each: false where the number is taken or there is no memory for it. Texts are copied, with a NUL
 * behind them. */
bool yarn_dump_known_add_text(struct yarn_dump_known *known, uint32_t number,
                              struct yarn_span text);
bool yarn_dump_known_add_symbol(struct yarn_dump_known *known, uint32_t number, uint64_t start);
bool yarn_dump_known_add_stack(struct yarn_dump_known *known, uint32_t number, uint16_t depth);

/* The text of a reference; false (and the empty text) where it is not there. */
bool yarn_dump_known_text(const struct yarn_dump_known *known, uint64_t reference,
                          struct yarn_span *ret_text);
