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
    /* One of both: the key of a frame's stack, which each sample of a stack has many of, or of a
     * cell. */
    uint32_t (*of_stack)(const struct yarn_profile *profile,
                         const struct yarn_profile_stack *stack);
    uint32_t (*of_cell)(const struct yarn_profile *profile, const struct yarn_cell *cell);
    size_t (*count)(const struct yarn_profile *profile);
    /* The number of its text; NULL: it has none. */
    uint32_t (*name)(const struct yarn_profile *profile, uint32_t key);
    bool needs_threads; /* the profile is loaded with them */
};

const struct yarn_by_key *yarn_by_key(enum yarn_by by);

/* False: no key of that name. */
YARN_MUST_CHECK bool yarn_by_parse(const char *word, enum yarn_by *ret_by);
