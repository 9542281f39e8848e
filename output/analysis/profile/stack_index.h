/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Finds a stack of a profile by its caller's stack and its frame, so that what an earlier process
 * or epoch had is not there twice. Within an epoch a dump defines each stack once: only those of
 * epochs before need to be found, and a dump of one epoch costs nothing.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"
#include "output/dump/types.h"

/* A parent has a smaller number than its children. */
struct yarn_profile_stack {
    uint32_t parent; /* YARN_DUMP_NONE: the frame is the outermost */
    uint32_t frame;
    uint32_t function;
};

struct yarn_stack_index {
    uint32_t *slots; /* owned; 1 + number of a stack, 0: free */
    size_t nr_slots; /* a power of two */
    size_t count;    /* the first stacks are in it, so many */
};

/* Takes in the first `count` stacks: those of epochs that are over. */
YARN_MUST_CHECK int yarn_stack_index_extend(struct yarn_stack_index *index,
                                            const struct yarn_profile_stack *stacks, size_t count);
/* YARN_DUMP_NONE where there is none. */
uint32_t yarn_stack_index_find(const struct yarn_stack_index *index,
                               const struct yarn_profile_stack *stacks, uint32_t parent,
                               uint32_t frame);
void yarn_stack_index_fini(struct yarn_stack_index *index);
