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
};

/* -ENOMEM. *ret_stacks, NULL before, stays so where all pass. */
YARN_MUST_CHECK int yarn_choice_stacks(const struct yarn_profile *profile,
                                       const struct yarn_filter *filter, uint8_t **ret_stacks);
/* -ENOMEM. */
YARN_MUST_CHECK int yarn_choice_init(struct yarn_choice *choice, const struct yarn_profile *profile,
                                     const struct yarn_filter *filter);
/* Idempotent. */
void yarn_choice_fini(struct yarn_choice *choice);

/* `thread` and `stack` may be YARN_DUMP_NONE. */
static inline bool yarn_choice_has(const struct yarn_choice *choice, uint32_t event,
                                   uint32_t thread, uint32_t stack)
{
    if (!choice->events[event] || (thread != YARN_DUMP_NONE && !choice->threads[thread]))
        return false;
    return !choice->stacks || (stack != YARN_DUMP_NONE && choice->stacks[stack]);
}
