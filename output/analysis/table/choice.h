/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A filter worked out for one profile: which samples pass. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/filter.h"

struct yarn_choice {
    uint8_t *events, *threads; /* owned; a byte each, 1: passes */
    uint8_t *stacks;           /* owned; those with a function that passes; NULL: all */
    bool has_all_threads;      /* then also who is of no process that was recorded */
    bool has_records;          /* also what is no sample: it has neither event nor function */
};

/* -ENOMEM. *ret_stacks, NULL before, stays so where all pass. */
YARN_MUST_CHECK int yarn_choice_stacks(const struct yarn_profile *profile,
                                       const struct yarn_filter *filter, uint8_t **ret_stacks);
/* -ENOMEM. */
YARN_MUST_CHECK int yarn_choice_init(struct yarn_choice *choice, const struct yarn_profile *profile,
                                     const struct yarn_filter *filter);
/* Idempotent. */
void yarn_choice_fini(struct yarn_choice *choice);

static inline bool yarn_choice_has_thread(const struct yarn_choice *choice, uint32_t thread)
{
    return thread == YARN_DUMP_NONE ? choice->has_all_threads : choice->threads[thread];
}

/* `thread` and `stack` may be YARN_DUMP_NONE. */
static inline bool yarn_choice_has(const struct yarn_choice *choice, uint32_t event,
                                   uint32_t thread, uint32_t stack)
{
    return choice->events[event] && yarn_choice_has_thread(choice, thread) &&
           (!choice->stacks || (stack != YARN_DUMP_NONE && choice->stacks[stack]));
}
