/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What samples are summed by: one definition of each key, for the rows, the option and the
 * headlines. A key is a number: of a function, place, module, thread, dump, cpu, event, or of a
 * text, where equal texts are one row. Threads: safe anywhere.
 */
#pragma once

#include "output/analysis/profile/profile.h"

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
/* Of the stack's frame, or of a cell. */
uint32_t yarn_by_of_stack(const struct yarn_profile *profile, enum yarn_by by,
                          const struct yarn_profile_stack *stack);
uint32_t yarn_by_of_cell(const struct yarn_profile *profile, enum yarn_by by,
                         const struct yarn_cell *cell);
/* "" of cpus. */
const char *yarn_by_name(const struct yarn_profile *profile, enum yarn_by by, uint32_t key);

/* False: no key of that name. */
YARN_MUST_CHECK bool yarn_by_parse(const char *word, enum yarn_by *ret_by);
