/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples of one event added up. By stack: what passes on each stack and below it. By a key that
 * each stack's frame has: what the frames of a key spent themselves (they, or what was inlined into
 * them, were innermost) and in all, where a key that is several times on a stack (recursion) counts
 * once. Knows cells and their choice; does not know what a key stands for.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/fold/choice.h"

struct yarn_sum {
    uint64_t weight; /* in the event's unit */
    uint64_t samples;
    double squares; /* of each sample's weight */
};

struct yarn_group {
    uint64_t self, total;            /* in the event's unit */
    uint64_t samples, total_samples; /* that make them up */
    double squares, total_squares;   /* of each sample's weight */
    uint64_t latency;                /* the sum over total_samples, where it is known */
};

struct yarn_fold {
    uint32_t *keys;    /* owned; of each stack's frame; YARN_DUMP_NONE: in no group */
    uint32_t *selfs;   /* owned; the key that the samples of a stack are spent in; NULL: `keys` */
    uint8_t *repeated; /* owned; 1 where the key is further out as well */
    /* Keys of the functions that stand for stacks or root sides that are missing. */
    uint32_t roots[YARN_FUNCTION_PSEUDO_COUNT];
    bool has_no_root_sides; /* what is missing around a stack is in no group */
};

/* -ENOMEM; also where `keys` is NULL. Takes `keys` over, which are small numbers, and sets the
 * roots to YARN_DUMP_NONE. */
YARN_MUST_CHECK int yarn_fold_init(struct yarn_fold *fold, const struct yarn_profile *profile,
                                   uint32_t *keys);
/* Idempotent. */
void yarn_fold_fini(struct yarn_fold *fold);

/* Adds what passes of the event to the groups, of which there is one a key. -ENOMEM. */
YARN_MUST_CHECK int yarn_fold_add(const struct yarn_fold *fold, const struct yarn_choice *choice,
                                  uint32_t event, struct yarn_group *groups);

/* Sums, one a stack of the profile, with what is below it, and one more with all that passes. Owned
 * by the caller, who frees it with free(); NULL: no memory. */
YARN_MUST_CHECK struct yarn_sum *yarn_stack_sums(const struct yarn_choice *choice, uint32_t event);

/* Links stacks, of each the first that it calls and the next that its caller calls (YARN_DUMP_NONE:
 * none), and returns the first outermost one. Stacks without samples (`sums` NULL: none) are left
 * out. */
uint32_t yarn_stacks_link(const struct yarn_profile *profile, const struct yarn_sum *sums,
                          uint32_t *callees, uint32_t *next);

static inline void yarn_sum_add(struct yarn_sum *sum, const struct yarn_sum *more)
{
    sum->weight += more->weight;
    sum->samples += more->samples;
    sum->squares += more->squares;
}

static inline struct yarn_sum yarn_sum_of(const struct yarn_cell *cell)
{
    return (struct yarn_sum){cell->weight, cell->samples, cell->squares};
}

static inline void yarn_group_add_self(struct yarn_group *group, const struct yarn_sum *more)
{
    group->self += more->weight;
    group->samples += more->samples;
    group->squares += more->squares;
}

static inline void yarn_group_add_total(struct yarn_group *group, const struct yarn_sum *more)
{
    group->total += more->weight;
    group->total_samples += more->samples;
    group->total_squares += more->squares;
}
