/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What one event spent on each stack and, summed up from the leaves to the roots, below it; and
 * which stacks hold a function. One item a stack of the profile, owned by the caller, who frees it
 * with free(); NULL: no memory.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

struct yarn_stack_sum {
    uint64_t total;
    uint64_t samples; /* that make up the total */
    double squares;   /* of their weights */
};

/* Which samples count. */
struct yarn_stack_choice {
    uint32_t event;
    const uint8_t *threads; /* borrowed; a byte a thread, 0: does not count */
    const uint8_t *stacks;  /* borrowed; a byte a stack; NULL: all count */
    bool is_by_root;        /* only those whose root side is `root` */
    uint32_t root;          /* as yarn_profile_root_of has it */
};

YARN_MUST_CHECK struct yarn_stack_sum *yarn_stack_sums(const struct yarn_profile *profile,
                                                       const struct yarn_stack_choice *choice);

/* Whether the sample counts; one without a stack does, where no stacks are chosen. */
bool yarn_stack_choice_has(const struct yarn_stack_choice *choice, const struct yarn_cell *cell);

/* 1 where one of `functions` (a byte a function) is anywhere on the stack. */
YARN_MUST_CHECK uint8_t *yarn_stacks_with(const struct yarn_profile *profile,
                                          const uint8_t *functions);

/* 1 where the key of the stack's frame is already on its parent: recursion. `keys`: one a stack,
 * small numbers or YARN_DUMP_NONE. Linear, however deep the stacks are. */
YARN_MUST_CHECK uint8_t *yarn_stacks_repeated(const struct yarn_profile *profile,
                                              const uint32_t *keys);
