/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The frame of a function whose frame pointer is not known: of a blocked thread the kernel shows
 * the instruction and stack pointers alone. The function's code mostly says how far the frame is
 * from the stack pointer. Where it does not (alloca), the frame is searched from the stack pointer
 * up: the word above the frame pointer's slot is a return address whose call provably leads to this
 * very function, directly, or by a slot that is read, of the global offset table for example.
 *
 * What earlier calls have left on the stack looks alike. So a frame is believed only if the walk
 * from it comes to the thread's start, and by every word on the way that could be the return
 * address instead: of such a call, or of one through a register, which may lead anywhere.
 *
 * Threads: one owner of the cache at a time. Signals: not safe.
 */
#pragma once

#include "unwind/rule_cache.h"

/* Whether the rule uses the frame pointer, in a form whose frame can be searched for. */
bool yarn_frame_search_applies(const struct yarn_rule_cache *cache, const struct yarn_rule *rule,
                               const struct yarn_registers *registers);

/* Sets the frame pointer by the code of the function, in whose frame `registers` are. False where
 * that does not say it, or what lies there is no return address of a call that may lead to it. */
bool yarn_frame_measure(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                        const struct yarn_rule *rule, uint64_t function, uint32_t size,
                        struct yarn_registers *registers);

/* Sets the frame pointer to the first that may be meant. False where there is none. */
bool yarn_frame_search(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                       const struct yarn_rule *rule, uint64_t function,
                       struct yarn_registers *registers);

/* The slots of return addresses that a walk took, ascending. */
struct yarn_frame_slots {
    uint64_t *slot; /* borrowed; | 1: of a frame of another function */
    size_t count, most;
};

/* Whether no other word of the stack, from where the search began to the end of the walk, can be
 * the return address of the function. */
bool yarn_frame_is_sole(struct yarn_rule_cache *cache, const struct yarn_stack_copy *stack,
                        uint64_t function, uint64_t from, uint64_t to,
                        const struct yarn_frame_slots *taken);
