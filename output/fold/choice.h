/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A filter worked out for one profile: which samples pass. Nothing else says so; a view that shows
 * fewer still narrows a copy. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/filter.h"

/* Every root side, or none. */
#define YARN_CHOICE_ANY_ROOT (YARN_DUMP_NONE - 1)

struct yarn_choice {
    const struct yarn_profile *profile;    /* borrowed */
    uint8_t *events, *threads, *functions; /* owned; a byte each, 1: passes */
    uint8_t *stacks;                       /* owned; those with a function that passes */
    const uint8_t
        *left_out;        /* borrowed; a byte a stack, 1: what ends there does not pass; or NULL */
    uint32_t root;        /* only with it: as yarn_profile_root_of has it */
    bool has_all_threads; /* then also who is of no process that was recorded */
    bool has_all_functions;
    bool has_records; /* also what is no sample: it has neither event nor function */
};

/* -ENOMEM. */
YARN_MUST_CHECK int yarn_choice_init(struct yarn_choice *choice, const struct yarn_profile *profile,
                                     const struct yarn_filter *filter);
/* Idempotent. */
void yarn_choice_fini(struct yarn_choice *choice);

/* `thread` and `stack` may be YARN_DUMP_NONE. A function passes that is on the stack, or stands for
 * what is missing of it. */
static inline bool yarn_choice_has(const struct yarn_choice *choice, uint32_t event,
                                   uint32_t thread, uint32_t stack, uint32_t stack_end)
{
    if (!choice->events[event] ||
        !(thread == YARN_DUMP_NONE ? choice->has_all_threads : choice->threads[thread]))
        return false;
    if (choice->left_out && stack != YARN_DUMP_NONE && choice->left_out[stack])
        return false;
    if (choice->has_all_functions && choice->root == YARN_CHOICE_ANY_ROOT)
        return true;
    uint32_t root = yarn_profile_root_of(stack, stack_end);
    if (choice->root != YARN_CHOICE_ANY_ROOT && choice->root != root)
        return false;
    return (stack != YARN_DUMP_NONE && choice->stacks[stack]) ||
           (root != YARN_DUMP_NONE && choice->functions[root]);
}

static inline bool yarn_choice_has_cell(const struct yarn_choice *choice,
                                        const struct yarn_cell *cell)
{
    return yarn_choice_has(choice, cell->event, cell->thread, cell->stack, cell->stack_end);
}

/* The next of the profile's cells, from *at on, that is of the event (YARN_DUMP_NONE: of any) and
 * passes; NULL: there is none. */
const struct yarn_cell *yarn_choice_next(const struct yarn_choice *choice, uint32_t event,
                                         size_t *at);

/* A byte a stack, 1 where one of `functions` (a byte each) is anywhere on it. Owned by the caller,
 * who frees it with free(); NULL: no memory. */
YARN_MUST_CHECK uint8_t *yarn_stacks_with(const struct yarn_profile *profile,
                                          const uint8_t *functions);

/* The option (its name) that no event, thread or function of these profiles passes by itself; NULL:
 * there is none. */
const char *yarn_filter_in_vain(const struct yarn_filter *filter,
                                const struct yarn_profile *const profiles[], size_t count);

/* The functions that a user means by a word: those of that name, with or without their parameters
 * or, where there is none, those whose name matches it as an extended regular expression. One byte
 * a function, 1 where it matches; only `functions` (as many bytes, NULL: all) are tried. Owned by
 * the caller; NULL: no memory. */
YARN_MUST_CHECK uint8_t *yarn_functions_called(const struct yarn_profile *profile,
                                               const char *wanted, const uint8_t *functions);
