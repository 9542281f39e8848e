/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The frame of a function whose frame pointer is not known: of a blocked thread the kernel shows
 * the instruction and stack pointers alone. Searched from the stack pointer up, and believed only
 * where the word above it is a return address whose call provably leads to this very function:
 * directly, or by a slot that is read, of the global offset table for example. A call through a
 * register proves nothing.
 *
 * What an earlier call has left on the stack may look alike. So further such words above are
 * remembered: if the walk from the first does not come by each of them, none is believed.
 *
 * Threads: one owner of the cache at a time. Signals: not safe.
 */
#pragma once

#include "unwind/rule_cache.h"

enum { YARN_FRAME_RIVALS_MAX = 16 };

struct yarn_frame_rivals {
    unsigned count, next;
    uint64_t slot[YARN_FRAME_RIVALS_MAX]; /* of return addresses, ascending */
};

/* Whether the rule hangs on the frame pointer, and in such a way that it can be searched. */
bool yarn_frame_search_applies(const struct yarn_rule_cache *cache, const struct yarn_rule *rule,
                               const struct yarn_registers *registers);

/* Sets the frame pointer. False where there is none that is proven. */
bool yarn_frame_search(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                       const struct yarn_rule *rule, uint64_t function,
                       struct yarn_registers *registers, struct yarn_frame_rivals *rivals);

/* A step of the walk has taken the return address of that slot. False where it has left out a
 * rival. */
bool yarn_frame_rivals_pass(struct yarn_frame_rivals *rivals, uint64_t slot);
