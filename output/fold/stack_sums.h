/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What passes of one event on each stack and, summed up from the leaves to the roots, below it;
 * and which stacks repeat a key. One item a stack of the profile, owned by the caller, who frees it
 * with free(); NULL: no memory.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/fold/choice.h"

struct yarn_stack_sum {
    uint64_t total;
    uint64_t samples; /* that make up the total */
    double squares;   /* of their weights */
};

YARN_MUST_CHECK struct yarn_stack_sum *yarn_stack_sums(const struct yarn_choice *choice,
                                                       uint32_t event);

/* 1 where the key of the stack's frame is already on its parent: recursion. `keys`: one a stack,
 * small numbers or YARN_DUMP_NONE. Linear, however deep the stacks are. */
YARN_MUST_CHECK uint8_t *yarn_stacks_repeated(const struct yarn_profile *profile,
                                              const uint32_t *keys);
