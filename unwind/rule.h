/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A rule is a row of the call frame table encoded in 12 bytes: sufficient for nearly every
 * row that compilers emit, small enough for a cache of many thousands. What cannot be encoded is of
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

/* Addresses of code that a rule was made from. */
struct yarn_code_extent {
    uint64_t from, to;
};

/* Of `popped`: unknown. */
enum { YARN_POPPED_UNKNOWN = UINT8_MAX };

/* Where a register is saved, in words of 8 bytes. */
enum { YARN_SLOT_SAME = INT16_MIN, YARN_SLOT_LOST };

struct yarn_rule {
    uint8_t kind;       /* enum yarn_rule_kind */
    uint8_t base;       /* DWARF number of the register that the CFA is relative to */
    bool is_signal : 1; /* the caller was interrupted: its ip is exact, no return address */
    bool lands : 1; /* it continues in another frame, with other registers (__builtin_eh_return) */
    uint8_t popped; /* words that the return removes above the return address; only from code
                       analysis */
    int16_t frame;  /* slot of the frame pointer: rbp */
    int16_t second; /* slot of a second register: rbx */
    int32_t cfa_offset;
};

enum yarn_step {
    YARN_STEP_OK,
    YARN_STEP_END,       /* the caller's ip is 0: outermost by convention */
    YARN_STEP_TRUNCATED, /* a word lies above the copy */
    YARN_STEP_UNKNOWN,   /* needs a register whose value this walk does not have */
    YARN_STEP_FAILED,    /* the result is impossible */
};

struct yarn_code_depth {
    uint32_t bytes; /* from the stack pointer to the CFA, before the instruction is run */
    bool has_frame; /* the function makes the frame pointer point to its frame */
    /* The first and the last place outside of the code that it jumps to with its frame standing,
     * relative to its begin: a part of it that lies elsewhere. 0: none. */
    int64_t first_outside, last_outside;
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
    /* The rule of code that no FDE covers, for the instruction at `vaddr`, which is a return
     * address if `is_called`; kind NONE where the analysis is not conclusive. Without an image the
     * code is read from the memory of `target`. *ret_near: what was read of it around there. */
    struct yarn_rule (*read_code)(const struct yarn_image *image, const struct yarn_target *target,
                                  uint64_t vaddr, bool is_called,
                                  struct yarn_code_extent *ret_near);
    /* How far below the CFA the stack pointer of a function is at one of its instructions, by its
     * code, whose begin has the CFA a word above: see depth_x86_64.h. */
    bool (*read_depth)(struct yarn_span code, uint32_t at, struct yarn_code_depth *ret_depth);
    /* Whether some instruction may move the stack pointer by what only a register knows. */
    bool (*allocates)(struct yarn_span code);
    /* Whether the code that ends at the return address ends in a call; *ret_target is where that
     * call leads relative to the return address, 0 for an indirect call. */
    bool (*is_call)(struct yarn_span code, int64_t *ret_target);
    /* Whether that call is one to the return address itself, to learn it: no frame is behind it. */
    bool (*is_call_to_next)(struct yarn_span code);
    /* Whether the code is where an interpreter goes on that pushed this address itself and then
     * jumped: it takes its stack pointer from its frame. */
    bool (*is_reentry)(struct yarn_span code);
    /* Whether a function's code may jump out of it, instead of calling: by a pointer, or directly.
     */
    bool (*may_jump_on)(struct yarn_span function);
    /* Whether that call is one through a word at a fixed address: *ret_slot. */
    bool (*call_slot)(struct yarn_span code, uint64_t return_address, uint64_t *ret_slot);
    /* Whether the code at the address begins with a jump through such a word. */
    bool (*stub_slot)(struct yarn_span code, uint64_t address, uint64_t *ret_slot);
    /* Whether the code begins with a direct jump, conditional or not: *ret_target is where it leads
     * relative to the code's begin. */
    bool (*jump_target)(struct yarn_span code, int64_t *ret_target);
};

/* The machine of the process itself: rule_ARCH.c. */
extern const struct yarn_unwind_machine yarn_machine_native;

static inline bool yarn_registers_has(const struct yarn_registers *registers, unsigned number)
{
    return registers->valid >> number & 1;
}

/* The result for a word that could not be read: TRUNCATED where it is above the copy, at a
 * plausible address; FAILED elsewhere. */
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
 * register has been restored (which gcc's tables do not state). */
void yarn_rule_restore(struct yarn_registers *registers, unsigned number, int16_t slot,
                       uint64_t from, const struct yarn_stack_copy *stack);
/* The slot for a DWARF register rule, false where it cannot be expressed. `base`: of a DEREF rule;
 * otherwise -1. */
struct yarn_cfi_place;
bool yarn_rule_slot(const struct yarn_cfi_place *place, int base, int16_t *ret_slot);
