/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A form is one way in which an event can be written, in a file of its own: parse_named.c,
 * parse_cache.c, parse_raw.c, parse_later.c. parse.c tries them in order and reads what may
 * follow any event (terms and modifiers, parse_tail.c).
 *
 * Threads: one owner of the reader. Signals: safe as far as the arena is.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/span.h"
#include "core/event/parse.h"

struct yarn_event_reader {
    struct yarn_span text; /* the whole list */
    size_t at;
    struct yarn_arena *arena;       /* borrowed */
    struct yarn_parse_error *error; /* borrowed; filled on -EINVAL */
    struct yarn_event_list *list;   /* borrowed */
    uint8_t nr_groups, nr_items;
    bool is_in_group;
};

/* Takes the event's own words and adds specs to the list: one, or more where a pattern or a kind of
 * core for each is meant, without what the tail says. -ENOENT with nothing taken: not of this form.
 * -EINVAL, -ENOMEM: of this form, but not usable. */
typedef int yarn_event_form_fn(struct yarn_event_reader *reader);

yarn_event_form_fn yarn_event_parse_named; /* cpu-clock, cycles, auto */
yarn_event_form_fn yarn_event_parse_cache; /* L1-dcache-load-misses */
yarn_event_form_fn yarn_event_parse_raw;   /* r01c2 */
yarn_event_form_fn yarn_event_parse_later; /* what this version does not know: never 0 */

/* Adds a spec to the list. -EINVAL where there is no room. */
YARN_MUST_CHECK int yarn_event_reader_add(struct yarn_event_reader *reader,
                                          const struct yarn_event_spec *spec);

/* The letters at the reader, over what the spec has been given already. */
YARN_MUST_CHECK int yarn_event_parse_modifiers(struct yarn_event_reader *reader,
                                               struct yarn_event_spec *spec);

/* /TERM=VALUE,…/ and :MODIFIERS, each of which may be missing. */
YARN_MUST_CHECK int yarn_event_parse_tail(struct yarn_event_reader *reader,
                                          struct yarn_event_spec *spec);

/* Fills the error; -EINVAL. */
YARN_MUST_CHECK int yarn_event_reader_fail(struct yarn_event_reader *reader, size_t at, size_t size,
                                           const char *why);

/* The byte `ahead` of the reader; 0 behind the end. */
static inline char yarn_event_reader_peek(const struct yarn_event_reader *reader, size_t ahead)
{
    uint8_t byte = 0;
    (void)yarn_span_read(reader->text, (uint64_t)reader->at + ahead, &byte, 1);
    return (char)byte;
}

/* The letters, digits, - _ . at the reader: as much of a name as there is. */
struct yarn_span yarn_event_reader_word(const struct yarn_event_reader *reader);

/* From the reader up to a byte of `stops` or the end. */
struct yarn_span yarn_event_reader_until(const struct yarn_event_reader *reader, const char *stops);
