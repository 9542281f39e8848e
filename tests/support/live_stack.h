/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample of the calling thread by itself: its registers at one instruction and a copy of its
 * stack from sp upwards, as the kernel would deliver them.
 */
#pragma once

#include "unwind/unwinder.h"

enum { YARN_LIVE_STACK_MAX = 1 << 20 };

struct yarn_live_stack {
    struct yarn_registers registers;
    struct yarn_stack_copy stack;
    uint64_t word[YARN_LIVE_STACK_MAX / sizeof(uint64_t)];
};

/* At most `max` bytes of stack. The leaf frame is this function's. */
void yarn_live_stack_take(struct yarn_live_stack *live, size_t max);

/* The end of the mapping that holds the address; 0: none does. */
uint64_t yarn_live_stack_end(uint64_t address);

/* The part that is the same on every machine: the copy, where the registers are known. */
void yarn_live_stack_copy(struct yarn_live_stack *live, size_t max);
