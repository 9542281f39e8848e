/* SPDX-License-Identifier: Apache-2.0 */
#include "output/dump/known.h"

#include <stdlib.h>

#include "output/base/array.h"

void yarn_dump_known_events_close(struct yarn_dump_known_events *events)
{
    free(events->list);
    *events = (struct yarn_dump_known_events){.list = NULL};
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
    if (YARN_ARRAY_EXTEND(&events->list, &events->count, &events->capacity, record->number))
        return false;
    struct yarn_dump_known_event *event = &events->list[record->number];
    uint64_t kind = yarn_span_hash(record->unit, yarn_span_hash(record->name, 0));
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

static void close_set(struct yarn_dump_set *set)
{
    free(set->words);
    *set = (struct yarn_dump_set){.words = NULL};
}

void yarn_dump_known_clear_epoch(struct yarn_dump_known *known)
{
    close_set(&known->strings);
    close_set(&known->symbols);
    close_set(&known->frames);
    close_set(&known->stacks);
    yarn_texts_close(&known->kept);
}

void yarn_dump_known_clear_process(struct yarn_dump_known *known)
{
    close_set(&known->modules);
    yarn_dump_known_events_close(&known->events);
    yarn_dump_known_clear_epoch(known);
}

void yarn_dump_known_close(struct yarn_dump_known *known)
{
    close_set(&known->modules);
    yarn_dump_known_events_close(&known->events);
    close_set(&known->strings);
    close_set(&known->symbols);
    close_set(&known->frames);
    close_set(&known->stacks);
    yarn_texts_close(&known->kept);
    free(known->texts);
    free(known->symbol_starts);
    free(known->depths);
    *known = (struct yarn_dump_known){0};
}

bool yarn_dump_set_add(struct yarn_dump_set *set, uint32_t number)
{
    size_t word = number / 64;
    if (word >= set->nr_words &&
        YARN_ARRAY_EXTEND(&set->words, &set->nr_words, &set->max_words, word))
        return false;
    set->words[word] |= UINT64_C(1) << (number % 64);
    set->nr_numbers = yarn_size_max(set->nr_numbers, (size_t)number + 1);
    return true;
}

bool yarn_dump_known_add_text(struct yarn_dump_known *known, uint32_t number, struct yarn_span text)
{
    if (yarn_dump_set_has(&known->strings, number))
        return false;
    if (YARN_ARRAY_RESERVE(&known->texts, &known->max_texts, (size_t)number + 1))
        return false;
    const char *kept = yarn_texts_keep(&known->kept, text);
    if (!kept)
        return false;
    known->texts[number] = yarn_span_of(kept, text.size);
    return yarn_dump_set_add(&known->strings, number);
}

bool yarn_dump_known_add_symbol(struct yarn_dump_known *known, uint32_t number, uint64_t start)
{
    if (yarn_dump_set_has(&known->symbols, number))
        return false;
    if (YARN_ARRAY_RESERVE(&known->symbol_starts, &known->max_symbols, (size_t)number + 1))
        return false;
    known->symbol_starts[number] = start;
    return yarn_dump_set_add(&known->symbols, number);
}

bool yarn_dump_known_add_stack(struct yarn_dump_known *known, uint32_t number, uint16_t depth)
{
    if (yarn_dump_set_has(&known->stacks, number))
        return false;
    if (YARN_ARRAY_RESERVE(&known->depths, &known->max_depths, (size_t)number + 1))
        return false;
    known->depths[number] = depth;
    return yarn_dump_set_add(&known->stacks, number);
}

bool yarn_dump_known_text(const struct yarn_dump_known *known, uint64_t reference,
                          struct yarn_span *ret_text)
{
    *ret_text = YARN_SPAN_EMPTY;
    if (!reference)
        return true;
    if (!yarn_dump_set_has(&known->strings, reference - 1))
        return false;
    *ret_text = known->texts[reference - 1];
    return true;
}
