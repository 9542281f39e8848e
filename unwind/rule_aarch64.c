/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "unwind/cfi_row.h"
#include "unwind/rule.h"

enum { X19 = 19, X29 = 29, X30 = 30, SP = 31, PC = 32, WORD_SIZE = 8 };

#define BIT(number) (UINT64_C(1) << (number))

/* A signature (pointer authentication) sits above the 48 bits of a user address. */
#define ADDRESS_MASK (BIT(48) - 1)

/* struct rt_sigframe at sp: siginfo (128), ucontext up to its mcontext (176), fault address (8),
 * then x0..x30, sp, pc (arch/arm64/include/uapi/asm/sigcontext.h). */
enum { SIGNAL_REGISTERS = 128 + 176 + 8, SIGNAL_COUNT = 33 };

static bool compile_row(const struct yarn_fde *fde, const struct yarn_cfi_row *row,
                        struct yarn_rule *rule)
{
    rule->kind = YARN_RULE_REGISTER;
    rule->base = (uint8_t)row->cfa_register;
    rule->cfa_offset = (int32_t)row->cfa_offset;
    return !row->has_cfa_expression && row->cfa_register <= SP &&
           row->cfa_offset == rule->cfa_offset && fde->return_register == X30 &&
           row->place[SP].where == YARN_CFI_SAME &&
           yarn_rule_slot(&row->place[X29], -1, &rule->frame) &&
           yarn_rule_slot(&row->place[X30], -1, &rule->second);
}

static struct yarn_rule compile(const struct yarn_fde *fde, uint64_t vaddr)
{
    struct yarn_rule rule = {.kind = YARN_RULE_BAD, .is_signal = fde->is_signal_frame};
    struct yarn_cfi_row row;
    /* The vDSO's FDE marks the trampoline and says no more: the layout is the kernel's. */
    if (fde->is_signal_frame) {
        rule.kind = YARN_RULE_SIGNAL;
        return rule;
    }
    int err = yarn_cfi_row_at(fde, vaddr, &row);
    if (err == -EOVERFLOW)
        rule.kind = YARN_RULE_OTHER;
    if (err)
        return rule;
    if (row.place[X30].where == YARN_CFI_UNDEFINED)
        rule.kind = YARN_RULE_END;
    else if (!compile_row(fde, &row, &rule))
        rule.kind = YARN_RULE_OTHER;
    return rule;
}

static enum yarn_step step_signal(const struct yarn_stack_copy *stack,
                                  struct yarn_registers *registers)
{
    struct yarn_registers next = {.valid = BIT(SP) - 1};
    for (unsigned i = 0; i < SIGNAL_COUNT; i++) {
        enum yarn_step step = yarn_step_read(
            stack, registers->sp + SIGNAL_REGISTERS + (uint64_t)i * WORD_SIZE, &next.value[i]);
        if (step != YARN_STEP_OK)
            return step;
    }
    next.sp = next.value[SP];
    next.ip = next.value[PC];
    *registers = next;
    return YARN_STEP_OK;
}

/* Goes to the caller, whose ip is the return address in x30 and whose sp is the CFA. A leaf may
 * have no frame at all: then the CFA is sp. */
static enum yarn_step leave(uint64_t cfa, struct yarn_registers *registers)
{
    if (!yarn_registers_has(registers, X30) || cfa < registers->sp)
        return YARN_STEP_FAILED;
    uint64_t ip = registers->value[X30] & ADDRESS_MASK;
    if (cfa == registers->sp && ip == registers->ip)
        return YARN_STEP_FAILED;
    registers->valid &= BIT(X29);
    registers->sp = cfa;
    registers->ip = ip;
    return ip ? YARN_STEP_OK : YARN_STEP_END;
}

static enum yarn_step restore_return(const struct yarn_rule *rule, uint64_t cfa,
                                     const struct yarn_stack_copy *stack,
                                     struct yarn_registers *registers)
{
    if (rule->second == YARN_SLOT_SAME)
        return yarn_registers_has(registers, X30) ? YARN_STEP_OK : YARN_STEP_FAILED;
    uint64_t address = cfa + (uint64_t)((int64_t)rule->second * WORD_SIZE);
    if (address < registers->sp && yarn_registers_has(registers, X30))
        return YARN_STEP_OK;
    enum yarn_step step = yarn_step_read(stack, address, &registers->value[X30]);
    if (step == YARN_STEP_OK)
        registers->valid |= BIT(X30);
    return step;
}

static enum yarn_step step(const struct yarn_rule *rule, const struct yarn_stack_copy *stack,
                           struct yarn_registers *registers)
{
    if (rule->kind == YARN_RULE_SIGNAL)
        return step_signal(stack, registers);
    if (rule->base != SP && !yarn_registers_has(registers, rule->base))
        return YARN_STEP_UNKNOWN;
    uint64_t base = rule->base == SP ? registers->sp : registers->value[rule->base];
    uint64_t cfa = base + (uint64_t)(int64_t)rule->cfa_offset;
    struct yarn_registers next = *registers;
    enum yarn_step step = restore_return(rule, cfa, stack, &next);
    if (step != YARN_STEP_OK)
        return step;
    yarn_rule_restore(&next, X29, rule->frame, cfa, stack);
    step = leave(cfa, &next);
    if (step == YARN_STEP_OK)
        *registers = next;
    return step;
}

static enum yarn_step step_frame_pointer(const struct yarn_stack_copy *stack,
                                         struct yarn_registers *registers)
{
    enum { FRAME_MAX = 1 << 20 };
    uint64_t x29 = registers->value[X29];
    if (!yarn_registers_has(registers, X29) || x29 < registers->sp ||
        x29 - registers->sp >= FRAME_MAX || x29 % (2 * WORD_SIZE))
        return YARN_STEP_UNKNOWN;
    struct yarn_registers next = *registers;
    enum yarn_step step = yarn_step_read(stack, x29, &next.value[X29]);
    if (step == YARN_STEP_OK)
        step = yarn_step_read(stack, x29 + WORD_SIZE, &next.value[X30]);
    if (step != YARN_STEP_OK)
        return step;
    next.valid |= BIT(X30);
    /* The record lies anywhere in the frame: sp is known only as far as its end. */
    step = leave(x29 + 2 * WORD_SIZE, &next);
    if (step == YARN_STEP_OK)
        *registers = next;
    return step;
}

static enum yarn_step step_leaf(const struct yarn_stack_copy *stack,
                                struct yarn_registers *registers)
{
    (void)stack;
    return leave(registers->sp, registers);
}

static uint32_t instruction_of(struct yarn_span code)
{
    uint32_t word = 0;
    return yarn_span_read(code, 0, &word, sizeof word) ? word : 0;
}

/* add x29, sp, #N; mov is the one with 0. */
static bool is_frame_set_up(struct yarn_span code)
{
    return (instruction_of(code) & 0xffc003ff) == 0x910003fd;
}

/* ret, nop, brk. */
static bool is_end(struct yarn_span code, int64_t *ret_distance)
{
    uint32_t word = instruction_of(code);
    if ((word & 0xff800010) == 0x54000000) /* b.cond: 19 bits, in instructions */
        *ret_distance = (word >> 5 & 0x3ffff) * INT64_C(4);
    return word == 0xd65f03c0 || word == 0xd503201f || (word & 0xffe0001f) == 0xd4200000;
}

/* x30 has the return address still where it is about to be saved, and again before a ret. */
static int pushed_before(uint8_t before, struct yarn_span code)
{
    uint32_t word = instruction_of(code);
    (void)before;
    bool is_save = (word & 0xffc07fff) == 0xa9807bfd; /* stp x29, x30, [sp, #-N]! */
    return is_save || word == 0xd65f03c0 || is_frame_set_up(code) ? 0 : -1;
}

static bool is_call(struct yarn_span code, int64_t *ret_target)
{
    enum { INSTRUCTION_SIZE = 4 };
    uint32_t word;
    *ret_target = 0;
    if (code.size < INSTRUCTION_SIZE)
        return false;
    memcpy(&word, code.data + code.size - INSTRUCTION_SIZE, sizeof word);
    if (word >> 26 == 0x25) { /* bl: 26 signed bits, in instructions, from the bl itself */
        *ret_target = (int64_t)((uint64_t)word << 38) / (INT64_C(1) << 36) - INSTRUCTION_SIZE;
        return true;
    }
    return (word & 0xfefff000) == 0xd63f0000; /* blr, and its authenticating forms */
}

const struct yarn_machine yarn_machine_aarch64 = {
    .elf_machine = EM_AARCH64,
    .ip = PC,
    .sp = SP,
    .frame = X29,
    .kept = (BIT(X30) - 1) & ~(BIT(X19) - 1),
    .address = ADDRESS_MASK,
    .compile = compile,
    .step = step,
    .step_frame_pointer = step_frame_pointer,
    .step_leaf = step_leaf,
    .pushed_before = pushed_before,
    .is_frame_set_up = is_frame_set_up,
    .is_end = is_end,
    .is_call = is_call,
};
