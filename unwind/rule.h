/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rule is a row of the call frame table pressed into 12 bytes: enough to step by for nearly every
 * row that compilers write, small enough for a cache of many thousands. What does not fit is of
 * kind OTHER and left to libunwind. Knows the machine's conventions; does not know the cache, the
 * unwinders or modules.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "unwind/cfi.h"
#include "unwind/stack.h"

enum yarn_rule_kind {
    YARN_RULE_EMPTY,    /* no rule: a free slot of the cache */
    YARN_RULE_REGISTER, /* CFA = base + cfa_offset; slots relative to the CFA */
    YARN_RULE_DEREF,    /* CFA = word at base + cfa_offset (realigned); slots relative to base */
    YARN_RULE_SIGNAL,   /* every register from the signal frame at sp */
    YARN_RULE_END,      /* the return address is undefined: no caller */
    YARN_RULE_OTHER,    /* a row that only libunwind can step by */
    YARN_RULE_BAD,      /* the call frame information is malformed */
    YARN_RULE_NONE,     /* no call frame information covers the address */
    YARN_RULE_KIND_COUNT,
};

/* Of `popped`: how many only the code knows. */
enum { YARN_POPPED_UNKNOWN = UINT8_MAX };

/* A saved register's place in words of 8 bytes. */
enum { YARN_SLOT_SAME = INT16_MIN, YARN_SLOT_LOST };

struct yarn_rule {
    uint8_t kind;       /* enum yarn_rule_kind */
    uint8_t base;       /* DWARF number of the register that the CFA hangs on */
    bool is_signal : 1; /* the caller was interrupted: its ip is exact, no return address */
    bool lands : 1; /* its function goes on elsewhere, with other registers (__builtin_eh_return) */
    uint8_t popped; /* words that the return takes off behind the return address; only of code */
    int16_t frame;  /* slot of the frame pointer: rbp */
    int16_t second; /* slot of a second register: rbx */
    int32_t cfa_offset;
};

enum yarn_step {
    YARN_STEP_OK,
    YARN_STEP_END,       /* the caller's ip is 0: outermost by convention */
    YARN_STEP_TRUNCATED, /* a word lies above the copy */
    YARN_STEP_UNKNOWN,   /* a register is needed that this walk did not follow */
    YARN_STEP_FAILED,    /* against all sense */
};

/* What depends on the machine. */
struct yarn_unwind_machine {
    uint8_t ip, sp, frame; /* DWARF numbers; ip of x86-64 is the column of the return address */
    uint64_t kept;         /* registers that a call preserves, as bits, without sp and ip */

    /* The rule of the FDE's row at `vaddr`, which is the lookup ip. */
    struct yarn_rule (*compile)(const struct yarn_fde *fde, uint64_t vaddr);
    /* From a frame's registers to its caller's, by a rule of kind REGISTER, DEREF or SIGNAL. */
    enum yarn_step (*step)(const struct yarn_rule *rule, const struct yarn_stack_copy *stack,
                           struct yarn_registers *registers);
    /* By the chain of frame pointers. UNKNOWN: they cannot be a chain. */
    enum yarn_step (*step_frame_pointer)(const struct yarn_stack_copy *stack,
                                         struct yarn_registers *registers);
    /* As if nothing had been pushed since the call. */
    enum yarn_step (*step_leaf)(const struct yarn_stack_copy *stack,
                                struct yarn_registers *registers);
    /* The rule of code that no FDE covers, for the instruction at `vaddr`, before which a call has
     * not returned if `is_called`; kind NONE where the code does not prove one. Without an image
     * the code is read from the process's memory. */
    struct yarn_rule (*read_code)(const struct yarn_image *image, uint64_t vaddr, bool is_called);
    /* Whether the code that ends at the return address ends in a call; *ret_target is where that
     * call leads relative to the return address, 0 where it is not written in the instruction. */
    bool (*is_call)(struct yarn_span code, int64_t *ret_target);
};

/* That of the process itself: rule_ARCH.c. */
extern const struct yarn_unwind_machine yarn_machine_native;

static inline bool yarn_registers_has(const struct yarn_registers *registers, unsigned number)
{
    return registers->valid >> number & 1;
}

/* How a word that could not be read is judged: TRUNCATED where it lies above the copy, within
 * reason; FAILED elsewhere. */
enum yarn_step yarn_step_missing(const struct yarn_stack_copy *stack, uint64_t address);

/* A word of the stack. */
static inline enum yarn_step yarn_step_read(const struct yarn_stack_copy *stack, uint64_t address,
                                            uint64_t *ret_word)
{
    if (yarn_stack_copy_read(stack, address, ret_word))
        return YARN_STEP_OK;
    return yarn_step_missing(stack, address);
}

/* A saved register from its slot, counted from `from`. A slot below sp was popped already: the
 * register has its value back (gcc does not say so in the tables). */
void yarn_rule_restore(struct yarn_registers *registers, unsigned number, int16_t slot,
                       uint64_t from, const struct yarn_stack_copy *stack);
/* The slot of a place, false where no slot expresses it. `base`: of a DEREF rule; else -1. */
struct yarn_cfi_place;
bool yarn_rule_slot(const struct yarn_cfi_place *place, int base, int16_t *ret_slot);
