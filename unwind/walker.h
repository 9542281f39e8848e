/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The walk over one stack, frame by frame: whose rule the address has, who steps by it, and why it
 * ended. Keeps what makes the next walk quick. Knows the ladder (own rules, libunwind, frame
 * pointers); does not know what other samples taught.
 *
 * Threads: one owner at a time. Signals: not safe. Allocates at the opening and through pages.h.
 */
#pragma once

#include "unwind/join.h"
#include "unwind/libunwind_step.h"
#include "unwind/rule_cache.h"
#include "unwind/unwinder.h"

struct yarn_walker {
    enum yarn_unwinder_kind kind;
    struct yarn_module_map *map; /* borrowed */
    const struct yarn_machine *machine;
    struct yarn_rule_cache cache;
    struct yarn_libunwind *libunwind; /* owned */
    const struct yarn_module *last;   /* that was asked for; neighbours mostly share theirs */
    struct yarn_join_frame trail[YARN_FRAMES_MAX]; /* the frames of the latest walk */
};

struct yarn_walk {
    struct yarn_walker *walker;
    const struct yarn_stack_copy *stack;
    struct yarn_registers registers; /* of the frame that was reached */
    bool is_exact;                   /* it was interrupted at its ip: leaf, below a signal frame */
    bool by_libunwind;
    struct yarn_frames *frames;
};

/* `map` is borrowed. On failure it has to be closed, too. */
YARN_MUST_CHECK int yarn_walker_open(struct yarn_walker *walker, enum yarn_unwinder_kind kind,
                                     struct yarn_module_map *map);

/* Follows the module map: before any walk. */
void yarn_walker_refresh(struct yarn_walker *walker);

/* From the leaf into the empty `frames`; *ret_walk is left at the last of them. */
void yarn_walker_walk(struct yarn_walker *walker, const struct yarn_registers *registers,
                      const struct yarn_stack_copy *stack, struct yarn_frames *frames,
                      struct yarn_walk *ret_walk);

/* A walk that was cut off goes on in a stack that reaches further; again left at the last. */
void yarn_walker_go_on(struct yarn_walk *walk, const struct yarn_stack_copy *stack);

/* As joins tell frames. */
struct yarn_join_frame yarn_walker_trail_frame(struct yarn_walker *walker, uint64_t ip,
                                               bool is_exact, uint64_t place);

struct yarn_cached_rule yarn_walker_rule(struct yarn_walker *walker,
                                         const struct yarn_join_frame *frame);

struct yarn_frame yarn_walker_frame(struct yarn_walker *walker, const struct yarn_join_frame *from);

/* Idempotent. */
void yarn_walker_close(struct yarn_walker *walker);
