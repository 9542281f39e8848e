/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The branches that processors noted beside samples, as edges from one address to another: how
 * often each was seen, mispredicted, and the cycles before it. A branch is seen because it was one
 * of the latest when a sample was taken: shares of what was seen, no counts of what happened.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/fold/choice.h"

struct yarn_branches {
    struct yarn_profile_branch *rows; /* owned array; by event, the most frequent first */
    size_t count, capacity;
};

/* A branch passes the filter where the function at either end does. -ENOMEM. */
YARN_MUST_CHECK int yarn_branches_build(const struct yarn_choice *choice,
                                        struct yarn_branches *ret_branches);
/* Idempotent. */
void yarn_branches_fini(struct yarn_branches *branches);
