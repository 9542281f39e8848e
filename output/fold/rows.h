/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The flat view: one row for each event and function (or module, thread, …) with what it spent
 * itself and what was spent below it. A function that is several times on a stack (recursion)
 * counts once per sample. What is summed by is defined here, for the option and the headlines, too:
 * a key is a number, of a function, place, module, thread, dump, cpu, event, or of a text, where
 * equal texts are one row. Threads: one owner at a time.
 */
#pragma once

#include "output/fold/choice.h"

/* ---- keys ---- */

enum yarn_by {
    YARN_BY_FUNCTION,
    YARN_BY_LINE,
    YARN_BY_MODULE,
    YARN_BY_THREAD,
    YARN_BY_PROCESS,
    YARN_BY_PROGRAM, /* all processes of one name, as it was run */
    YARN_BY_COMMAND, /* all of the same arguments */
    YARN_BY_HOST,
    YARN_BY_RANK,
    YARN_BY_CPU,
    YARN_BY_EVENT,
    YARN_BY_ADDRESS, /* of the memory that a sample is about, and where it was served */
    YARN_BY_FIELD,   /* of a tracepoint */
    YARN_BY_COUNT,
};

struct yarn_by_key {
    const char *word;                 /* of --by; NULL: the name of a field */
    const char *title, *detail_title; /* in capitals; the latter "" where a row has no more */
    bool is_of_frame;   /* of each frame of a stack, and not of a cell, of which a sample has one */
    bool needs_threads; /* the profile is loaded with them */
};

const struct yarn_by_key *yarn_by_key(enum yarn_by by);

/* Keys are below it. */
size_t yarn_by_count(const struct yarn_profile *profile, enum yarn_by by);
/* The key of the stack's frame, or of a cell. */
uint32_t yarn_by_of_stack(const struct yarn_profile *profile, enum yarn_by by,
                          const struct yarn_profile_stack *stack);
uint32_t yarn_by_of_cell(const struct yarn_profile *profile, enum yarn_by by,
                         const struct yarn_cell *cell);
/* "" of cpus. */
const char *yarn_by_name(const struct yarn_profile *profile, enum yarn_by by, uint32_t key);

/* False: no key of that name. */
YARN_MUST_CHECK bool yarn_by_parse(const char *word, enum yarn_by *ret_by);

/* ---- rows ---- */

struct yarn_row {
    uint32_t event;
    uint32_t
        key; /* number of the function, place, module, thread, dump, cpu, event or text (by.h) */
    uint64_t self; /* in the event's unit */
    uint64_t total;
    uint64_t samples;       /* that make up `self` */
    uint64_t total_samples; /* that make up `total` */
    uint64_t latency;       /* by address: the sum over total_samples; 0: not known */
};

struct yarn_rows {
    enum yarn_by by;
    struct yarn_row *rows; /* owned array; by event, then self descending, then name */
    size_t count;
    size_t capacity;
};

/* For YARN_BY_CPU the profile must have been loaded by cpu, for YARN_BY_LINE with lines, for
 * YARN_BY_ADDRESS and YARN_BY_FIELD by that, and with threads where the key needs them. */
YARN_MUST_CHECK int yarn_rows_build(const struct yarn_choice *choice, enum yarn_by by,
                                    struct yarn_rows *ret_rows);
/* Another order within an event: by total, or by self and, where that is equal, by total. */
void yarn_rows_sort_by_total(const struct yarn_profile *profile, struct yarn_rows *rows);
void yarn_rows_sort_by_self_and_total(const struct yarn_profile *profile, struct yarn_rows *rows);
void yarn_rows_fini(struct yarn_rows *rows);
