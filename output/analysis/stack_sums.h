/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What one event spent on each stack and, summed up from the leaves to the roots, below it.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile.h"

struct yarn_stack_sum {
    uint64_t self, total;
    uint64_t samples, total_samples;
};

/* Which samples count. */
struct yarn_stack_choice {
    uint32_t event;
    const uint8_t *threads; /* borrowed; a byte a thread, 0: does not count */
    const uint8_t *stacks;  /* borrowed; a byte a stack; NULL: all count */
    bool is_by_root;        /* only those whose root side is `root` */
    uint32_t root;          /* as yarn_profile_root_of has it */
};

/* One a stack of the profile; owned by the caller, who frees it with free(). NULL: no memory. */
YARN_MUST_CHECK struct yarn_stack_sum *yarn_stack_sums(const struct yarn_profile *profile,
                                                       const struct yarn_stack_choice *choice);

/* Whether the sample counts; one without a stack does, where no stacks are chosen. */
bool yarn_stack_choice_has(const struct yarn_stack_choice *choice, const struct yarn_cell *cell);

/* A byte a stack: 1 where one of `functions` is anywhere on it. Owned by the caller. */
YARN_MUST_CHECK uint8_t *yarn_stacks_with(const struct yarn_profile *profile,
                                          const uint8_t *functions);

/* Links from a stack to its callees: made once, walked for each event. */
struct yarn_stack_links {
    uint32_t *first_child;  /* owned; YARN_DUMP_NONE: none */
    uint32_t *next_sibling; /* owned */
    uint32_t first_root;
};

YARN_MUST_CHECK int yarn_stack_links_init(struct yarn_stack_links *links,
                                          const struct yarn_profile *profile);
void yarn_stack_links_fini(struct yarn_stack_links *links);

/* Each stack whose total is not 0 is entered before its callees and left after them. */
typedef void yarn_stack_visit_fn(void *self, uint32_t stack);
void yarn_stack_links_walk(const struct yarn_stack_links *links, const struct yarn_profile *profile,
                           const struct yarn_stack_sum *sums, yarn_stack_visit_fn *enter,
                           yarn_stack_visit_fn *leave, void *self);
