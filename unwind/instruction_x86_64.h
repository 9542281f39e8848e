/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One instruction of x86-64, as far as it says where a function's return address and saved
 * registers are: its size, where it leads, and what it does to registers and to words on the stack.
 * Registers are numbered as instructions do: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi, r8 to r15.
 * Does not know functions (code_x86_64).
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/span.h"

enum yarn_flow {
    YARN_FLOW_NEXT,
    YARN_FLOW_BRANCH,        /* on, or by `distance` */
    YARN_FLOW_CALL,          /* on, if the callee returns */
    YARN_FLOW_SYSCALL,       /* on, if the call returns */
    YARN_FLOW_JUMP,          /* by `distance` */
    YARN_FLOW_JUMP_REGISTER, /* to what `source` holds */
    YARN_FLOW_JUMP_MEMORY,   /* to what a fixed place in memory holds, as linkage does */
    YARN_FLOW_RETURN,        /* and takes off `value` bytes behind the return address */
    YARN_FLOW_STOP,          /* traps, or its target is unknown */
};

enum yarn_effect {
    YARN_EFFECT_NONE,
    YARN_EFFECT_SET,   /* target = source + value */
    YARN_EFFECT_LOAD,  /* target = word at source + value */
    YARN_EFFECT_STORE, /* word at target + value = source */
    YARN_EFFECT_PUSH,  /* source; YARN_REGISTER_NONE: something else */
    YARN_EFFECT_POP,   /* target; the same */
    YARN_EFFECT_LEAVE,
    YARN_EFFECT_CONSTANT, /* target = value */
};

enum { YARN_REGISTER_NONE = 16 };

struct yarn_instruction {
    uint8_t size;
    uint8_t flow;            /* enum yarn_flow */
    uint8_t effect;          /* enum yarn_effect */
    uint8_t target, source;  /* registers */
    uint16_t clobbered;      /* registers that it changes in another way, as bits */
    int32_t value, distance; /* of a jump: from the instruction's end */
};

/* False where the bytes are no instruction, or one that programs do not use. */
bool yarn_instruction_read(struct yarn_span code, struct yarn_instruction *ret_instruction);
