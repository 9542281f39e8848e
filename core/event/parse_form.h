/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A form is one way in which an event can be written: of one word in parse.c, else in a file of its
 * own. parse.c tries them in order and reads what may follow any event: terms and modifiers
 * (parse_terms.c).
 *
 * Threads: one owner of the reader. Signals: safe as far as the arena is.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/span.h"
#include "core/event/machine.h"
#include "core/event/nearest.h"
#include "core/event/pmu.h"
#include "core/event/spec.h"

enum { YARN_EVENT_CORES_MAX = 4 };

struct yarn_event_list;

struct yarn_event_reader {
    struct yarn_span text; /* the whole list */
    size_t at;
    const struct yarn_event_machine *machine; /* borrowed */
    struct yarn_arena *arena;                 /* borrowed */
    struct yarn_parse_error *error;           /* borrowed; filled on -EINVAL */
    struct yarn_event_list *list;             /* borrowed */
    const char *asked;                        /* by asked=, of the item; NULL */
    uint8_t nr_groups, nr_items;
    bool is_in_group;
    bool has_cores; /* they have been looked for */
    /* The PMUs of a machine with several kinds of core; 0 on all others. */
    struct yarn_pmu cores[YARN_EVENT_CORES_MAX];
    size_t nr_cores;
};

/* Takes the event's own words and adds specs to the list: one, or more where a pattern or a kind of
 * core for each is meant, without what the tail says. -ENOENT with nothing taken: not of this form.
 * -EINVAL, -ENOMEM: of this form, but not usable. */
typedef int yarn_event_form_fn(struct yarn_event_reader *reader);

yarn_event_form_fn yarn_event_parse_cache;         /* L1-dcache-load-misses */
yarn_event_form_fn yarn_event_parse_breakpoint;    /* mem:counter/8:rw */
yarn_event_form_fn yarn_event_parse_probe;         /* uprobe:/lib/libc.so.6:malloc */
yarn_event_form_fn yarn_event_parse_pmu;           /* cpu/event=0x3c/ */
yarn_event_form_fn yarn_event_parse_alias;         /* mem-loads */
yarn_event_form_fn yarn_event_parse_literal_alias; /* the same where - and _ are not alike */
yarn_event_form_fn yarn_event_parse_tracepoint;    /* sched:sched_switch */

/* Type and configuration of a cache's event; false with nothing taken where the word is none.
 * *ret_why: it is one, but this cache does not do that; else NULL. */
YARN_MUST_CHECK bool yarn_event_cache_config(struct yarn_span word, uint64_t *ret_config,
                                             const char **ret_why);

/* The names of all of them, for who has mistyped one. */
void yarn_event_offer_caches(struct yarn_nearest *nearest);

/* "r1c2": -ENOENT where it is none, -ERANGE beyond 16 digits. */
YARN_MUST_CHECK int yarn_event_raw_config(struct yarn_span word, uint64_t *ret_config);

/* Adds a spec to the list. -EINVAL where there is no room. */
YARN_MUST_CHECK int yarn_event_reader_add(struct yarn_event_reader *reader,
                                          const struct yarn_event_spec *spec);

/* Adds a spec that a machine with several kinds of core has one of for each: the type of a generic
 * event stands above the kernel's number of it. */
YARN_MUST_CHECK int yarn_event_reader_add_generic(struct yarn_event_reader *reader,
                                                  const struct yarn_event_spec *spec);

/* The letters at the reader, over what the spec has been given already. */
YARN_MUST_CHECK int yarn_event_parse_modifiers(struct yarn_event_reader *reader,
                                               struct yarn_event_spec *spec);

/* /TERM=VALUE,…/ at the reader. */
YARN_MUST_CHECK int yarn_event_parse_terms(struct yarn_event_reader *reader,
                                           struct yarn_event_spec *spec);

/* The bits of the configuration that a PMU's event is made of. */
struct yarn_event_bits {
    struct yarn_pmu pmu;
    uint64_t given[YARN_PMU_CONFIGS]; /* by the words, so not by an event's own terms */
    struct {
        char name[32];
        struct yarn_pmu_format format;
    } wanted[8]; /* PARAM=? of an event */
    size_t nr_wanted;
    bool has_event;  /* by name */
    char words[256]; /* of the PMU's own terms, with commas */
    struct yarn_text text;
};

/* A term of the PMU's own, from `key` to the reader's comma or slash. */
YARN_MUST_CHECK int yarn_event_take_bits(struct yarn_event_reader *reader,
                                         struct yarn_event_spec *spec,
                                         struct yarn_event_bits *bits);

/* Behind the last term: whether something is wanting. The spec is named after the terms. */
YARN_MUST_CHECK int yarn_event_finish_bits(struct yarn_event_reader *reader,
                                           struct yarn_event_spec *spec,
                                           struct yarn_event_bits *bits);

/* filter='EXPR' by the names that such an event has; the error's offset is within `text`. */
YARN_MUST_CHECK int yarn_event_check_filter(struct yarn_event_reader *reader,
                                            const struct yarn_event_spec *spec,
                                            struct yarn_span text,
                                            struct yarn_parse_error *ret_error);

/* Whether the word is letters of modifiers, at least one. */
YARN_MUST_CHECK bool yarn_event_is_modifiers(struct yarn_span word);

/* Fills the error; -EINVAL. `why` is static, or the list's own sentence. */
YARN_MUST_CHECK int yarn_event_reader_fail(struct yarn_event_reader *reader, size_t at, size_t size,
                                           const char *why);

/* The list's own sentence, empty, to be given to yarn_event_reader_fail. */
struct yarn_text yarn_event_reader_sentence(struct yarn_event_reader *reader);

/* The byte `ahead` of the reader; 0 behind the end. */
static inline char yarn_event_reader_peek(const struct yarn_event_reader *reader, size_t ahead)
{
    uint8_t byte = 0;
    (void)yarn_span_read(reader->text, (uint64_t)reader->at + ahead, &byte, 1);
    return (char)byte;
}

/* The letters, digits, - _ . at the reader: as much of a name as there is. */
struct yarn_span yarn_event_reader_word(const struct yarn_event_reader *reader);

/* The same with * ? [ ] among them. */
struct yarn_span yarn_event_reader_pattern(const struct yarn_event_reader *reader);

/* From the reader up to a byte of `stops` or the end. */
struct yarn_span yarn_event_reader_until(const struct yarn_event_reader *reader, const char *stops);

/* Whether the span begins with the text. */
static inline bool yarn_event_begins(struct yarn_span span, const char *text)
{
    return span.size >= strlen(text) && memcmp(span.data, text, strlen(text)) == 0;
}
