/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>

#include "unwind/cfi_row.h"
#include "unwind/code_x86_64.h"
#include "unwind/depth_x86_64.h"
#include "unwind/rule.h"

enum { RAX, RDX, RCX, RBX, RSI, RDI, RBP, RSP, R8, R9, R10, R11, R12, R13, R14, R15, RIP };
enum { OP_DEREF = 0x06, OP_BREG0 = 0x70, WORD_SIZE = 8 };

#define BIT(number) (UINT64_C(1) << (number))

/* The kernel's struct ucontext begins at sp when the handler has returned; its registers follow
 * 40 bytes in, in the order r8..r15, rdi, rsi, rbp, rbx, rdx, rax, rcx, rsp, rip
 * (arch/x86/include/uapi/asm/sigcontext.h). */
enum { UCONTEXT_REGISTERS = 40, UCONTEXT_RSP = 15, UCONTEXT_RIP = 16, UCONTEXT_COUNT = 17 };
static const uint8_t ucontext_order[UCONTEXT_COUNT] = {
    R8, R9, R10, R11, R12, R13, R14, R15, RDI, RSI, RBP, RBX, RDX, RAX, RCX, RSP, RIP,
};

/* `breg7 (rsp) 40 + 8 * 16`: where every C library's signal frame says that rip is. */
static const uint8_t signal_rip[] = {OP_BREG0 + RSP, 0xa8, 0x01};

static bool is_signal_row(const struct yarn_fde *fde, const struct yarn_cfi_row *row)
{
    const struct yarn_cfi_place *place = &row->place[RIP];
    return fde->is_signal_frame && place->where == YARN_CFI_AT_EXPRESSION &&
           yarn_span_equal(yarn_span_of(place->expression, place->expression_size),
                           yarn_span_of(signal_rip, sizeof signal_rip));
}

/*
 * A lazy procedure linkage entry pushes once behind byte N of its 16:
 *     breg7 (rsp) 8; breg16 (rip) 0; lit15; and; litN; ge; lit3; shl; plus
 * At a given address that is rsp + 8 or rsp + 16.
 */
static bool read_plt_cfa(struct yarn_span expression, uint64_t vaddr, int32_t *ret_offset)
{
    static const uint8_t head[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
    static const uint8_t tail[] = {0x2a, 0x33, 0x24, 0x22};
    enum { LIT0 = 0x30, LIT_AT = sizeof head, TAIL_AT = LIT_AT + 1 };
    if (expression.size != TAIL_AT + sizeof tail ||
        memcmp(expression.data, head, sizeof head) != 0 ||
        memcmp(expression.data + TAIL_AT, tail, sizeof tail) != 0)
        return false;
    unsigned pushed_from = expression.data[LIT_AT] - (unsigned)LIT0;
    if (pushed_from > 15)
        return false;
    *ret_offset = (vaddr & 15) >= pushed_from ? 16 : 8;
    return true;
}

/* `bregN offset; deref`: a frame that realigned its stack keeps the CFA in a slot. */
static bool read_deref_cfa(struct yarn_span expression, struct yarn_rule *rule)
{
    struct yarn_cursor cursor = yarn_cursor_of(expression);
    unsigned opcode = yarn_cursor_u8(&cursor);
    int64_t offset = yarn_cursor_sleb(&cursor);
    if (yarn_cursor_u8(&cursor) != OP_DEREF || yarn_cursor_left(&cursor) || cursor.failed ||
        opcode < OP_BREG0 || opcode > OP_BREG0 + R15 || offset != (int32_t)offset)
        return false;
    rule->kind = YARN_RULE_DEREF;
    rule->base = (uint8_t)(opcode - OP_BREG0);
    rule->cfa_offset = (int32_t)offset;
    return true;
}

static bool read_cfa(const struct yarn_cfi_row *row, uint64_t vaddr, struct yarn_rule *rule)
{
    rule->kind = YARN_RULE_REGISTER;
    if (row->has_cfa_expression) {
        rule->base = RSP;
        return read_plt_cfa(row->cfa_expression, vaddr, &rule->cfa_offset) ||
               read_deref_cfa(row->cfa_expression, rule);
    }
    rule->base = (uint8_t)row->cfa_register;
    rule->cfa_offset = (int32_t)row->cfa_offset;
    return row->cfa_register <= R15 && row->cfa_offset == rule->cfa_offset;
}

static bool compile_row(const struct yarn_cfi_row *row, uint64_t vaddr, struct yarn_rule *rule)
{
    const struct yarn_cfi_place *rip = &row->place[RIP];
    if (row->place[RSP].where != YARN_CFI_SAME || rip->where != YARN_CFI_AT_CFA ||
        rip->value != -WORD_SIZE || !read_cfa(row, vaddr, rule))
        return false;
    int base = rule->kind == YARN_RULE_DEREF ? rule->base : -1;
    if (!yarn_rule_slot(&row->place[RBP], base, &rule->frame))
        return false;
    /* rbx is a convenience: a row is not given up for it. */
    if (!yarn_rule_slot(&row->place[RBX], base, &rule->second))
        rule->second = YARN_SLOT_LOST;
    return true;
}

static struct yarn_rule compile(const struct yarn_fde *fde, uint64_t vaddr)
{
    struct yarn_rule rule = {.kind = YARN_RULE_BAD, .is_signal = fde->is_signal_frame};
    struct yarn_cfi_row row;
    int err = yarn_cfi_row_at(fde, vaddr, &row);
    if (err == -EOVERFLOW)
        rule.kind = YARN_RULE_OTHER;
    if (err)
        return rule;
    if (fde->return_register != RIP)
        rule.kind = YARN_RULE_OTHER;
    else if (row.place[RIP].where == YARN_CFI_UNDEFINED)
        rule.kind = YARN_RULE_END;
    else if (is_signal_row(fde, &row))
        rule.kind = YARN_RULE_SIGNAL;
    else if (rule.is_signal || !compile_row(&row, vaddr, &rule))
        rule.kind = YARN_RULE_OTHER;
    /* A register that no call preserves is saved where an exception's landing is handed its data.
     */
    rule.lands = row.place[RAX].where == YARN_CFI_AT_CFA;
    return rule;
}

static enum yarn_step step_signal(const struct yarn_stack_copy *stack,
                                  struct yarn_registers *registers)
{
    struct yarn_registers next = {.valid = BIT(RIP) - 1};
    uint64_t at = registers->sp + UCONTEXT_REGISTERS;
    for (unsigned i = 0; i < UCONTEXT_COUNT; i++) {
        enum yarn_step step =
            yarn_step_read(stack, at + (uint64_t)i * WORD_SIZE, &next.value[ucontext_order[i]]);
        if (step != YARN_STEP_OK)
            return step;
    }
    next.sp = next.value[RSP];
    next.ip = next.value[RIP];
    *registers = next;
    return YARN_STEP_OK;
}

static bool read_base(const struct yarn_registers *registers, unsigned number, uint64_t *ret_value)
{
    if (number != RSP && !yarn_registers_has(registers, number))
        return false;
    *ret_value = number == RSP ? registers->sp : registers->value[number];
    return true;
}

/* The return address right below `cfa`, where the frame begins. */
static enum yarn_step read_return(const struct yarn_stack_copy *stack, uint64_t cfa,
                                  const struct yarn_registers *registers, uint64_t *ret_ip)
{
    if (cfa <= registers->sp)
        return YARN_STEP_FAILED;
    enum yarn_step read = yarn_step_read(stack, cfa - WORD_SIZE, ret_ip);
    return read == YARN_STEP_OK && *ret_ip == 0 ? YARN_STEP_END : read;
}

static void leave(uint64_t cfa, uint64_t ip, struct yarn_registers *registers)
{
    registers->valid &= BIT(RBX) | BIT(RBP);
    registers->sp = cfa;
    registers->ip = ip;
}

/* This is what a walk spends its time in: nothing is copied, nothing changed before it is sure. */
static enum yarn_step step(const struct yarn_rule *rule, const struct yarn_stack_copy *stack,
                           struct yarn_registers *registers)
{
    uint64_t base, cfa, ip;
    if (rule->kind == YARN_RULE_SIGNAL)
        return step_signal(stack, registers);
    if (!read_base(registers, rule->base, &base))
        return YARN_STEP_UNKNOWN;
    cfa = base + (uint64_t)(int64_t)rule->cfa_offset;
    if (rule->kind == YARN_RULE_DEREF) {
        enum yarn_step read = yarn_step_read(stack, cfa, &cfa);
        if (read != YARN_STEP_OK)
            return read;
    } else {
        base = cfa;
    }
    enum yarn_step read = read_return(stack, cfa, registers, &ip);
    if (read != YARN_STEP_OK)
        return read;
    yarn_rule_restore(registers, RBP, rule->frame, base, stack);
    yarn_rule_restore(registers, RBX, rule->second, base, stack);
    leave(cfa, ip, registers);
    return YARN_STEP_OK;
}

static enum yarn_step step_frame_pointer(const struct yarn_stack_copy *stack,
                                         struct yarn_registers *registers)
{
    enum { FRAME_MAX = 1 << 20 };
    uint64_t rbp = registers->value[RBP], saved, ip;
    if (!yarn_registers_has(registers, RBP) || rbp < registers->sp ||
        rbp - registers->sp >= FRAME_MAX || rbp % WORD_SIZE)
        return YARN_STEP_UNKNOWN;
    enum yarn_step read = yarn_step_read(stack, rbp, &saved);
    if (read != YARN_STEP_OK)
        return read;
    read = read_return(stack, rbp + 2 * WORD_SIZE, registers, &ip);
    if (read != YARN_STEP_OK)
        return read;
    leave(rbp + 2 * WORD_SIZE, ip, registers);
    registers->value[RBP] = saved;
    registers->valid = BIT(RBP);
    return YARN_STEP_OK;
}

static enum yarn_step step_leaf(const struct yarn_stack_copy *stack,
                                struct yarn_registers *registers)
{
    uint64_t ip = 0, cfa = registers->sp + WORD_SIZE;
    enum yarn_step read = read_return(stack, cfa, registers, &ip);
    if (read == YARN_STEP_OK)
        leave(cfa, ip, registers);
    return read;
}

/* Bytes of a call through a ModRM operand that begins with FF, without prefixes. */
static size_t indirect_size(uint8_t modrm, uint8_t sib)
{
    unsigned mod = modrm >> 6, rm = modrm & 7;
    size_t size = mod != 3 && rm == 4 ? 3 : 2;
    if (mod == 1)
        size += 1;
    else if (mod == 2 || (mod == 0 && (rm == 5 || (rm == 4 && (sib & 7) == 5))))
        size += 4;
    return size;
}

static bool is_call(struct yarn_span code, int64_t *ret_target)
{
    enum { DIRECT_SIZE = 5, OP_CALL = 0xe8, OP_GROUP = 0xff, CALL_NEAR = 2, INDIRECT_MAX = 7 };
    int32_t relative;
    *ret_target = 0;
    if (code.size >= DIRECT_SIZE && code.data[code.size - DIRECT_SIZE] == OP_CALL) {
        memcpy(&relative, code.data + code.size - sizeof relative, sizeof relative);
        *ret_target = relative;
        return true;
    }
    for (size_t size = 2; size <= INDIRECT_MAX && size <= code.size; size++) {
        const uint8_t *at = code.data + code.size - size;
        if (at[0] == OP_GROUP && (at[1] >> 3 & 7) == CALL_NEAR &&
            indirect_size(at[1], size > 2 ? at[2] : 0) == size)
            return true;
    }
    return false;
}

/* `call 1f; 1:`, whose word is popped or dropped, and never returned to. */
static bool is_call_to_next(struct yarn_span code)
{
    static const uint8_t call[] = {0xe8, 0, 0, 0, 0};
    return code.size >= sizeof call &&
           memcmp(code.data + code.size - sizeof call, call, sizeof call) == 0;
}

/* `mov -N(%rbp),%rsp; movq $0,-N(%rbp)`: HotSpot's template interpreter, behind each invoke. */
static bool is_reentry(struct yarn_span code)
{
    static const uint8_t load[] = {0x48, 0x8b, 0x65}, clear[] = {0x48, 0xc7, 0x45};
    static const uint8_t zero[4];
    enum { OFFSET = sizeof load, CLEAR = OFFSET + 1, CLEARED = CLEAR + sizeof clear };
    return code.size >= CLEARED + 1 + sizeof zero && memcmp(code.data, load, sizeof load) == 0 &&
           memcmp(code.data + CLEAR, clear, sizeof clear) == 0 && code.data[OFFSET] >= 0x80 &&
           code.data[OFFSET] == code.data[CLEARED] &&
           memcmp(code.data + CLEARED + 1, zero, sizeof zero) == 0;
}

/* `jmp *` is ff with a 4 in its second byte, `jmp` e9 and the distance. Found in the midst of
 * another instruction it counts, too. */
static bool may_jump_on(struct yarn_span function)
{
    enum { BY_POINTER = 4, JUMP_SIZE = 5 };
    int32_t distance;
    for (size_t at = 0; at + 1 < function.size; at++) {
        if (function.data[at] == 0xff && (function.data[at + 1] >> 3 & 7) == BY_POINTER)
            return true;
        if (function.data[at] != 0xe9 || function.size - at < JUMP_SIZE)
            continue;
        memcpy(&distance, function.data + at + 1, sizeof distance);
        if (at + JUMP_SIZE + (uint64_t)(int64_t)distance >= function.size)
            return true;
    }
    return false;
}

/* `call *disp(%rip)` is ff 15 and four bytes. */
static bool call_slot(struct yarn_span code, uint64_t return_address, uint64_t *ret_slot)
{
    enum { SIZE = 6 };
    int32_t displacement;
    if (code.size < SIZE || code.data[code.size - SIZE] != 0xff ||
        code.data[code.size - SIZE + 1] != 0x15)
        return false;
    memcpy(&displacement, code.data + code.size - sizeof displacement, sizeof displacement);
    *ret_slot = return_address + (uint64_t)(int64_t)displacement;
    return true;
}

/* eb and 7x are short, e9 and 0f 8x have four bytes. */
static bool jump_target(struct yarn_span code, int64_t *ret_target)
{
    enum { SHORT_SIZE = 2, OP_SHORT = 0xeb, OP_NEAR = 0xe9, TWO_BYTES = 0x0f };
    const uint8_t *at = code.data;
    int32_t relative;
    if (code.size < SHORT_SIZE)
        return false;
    if (at[0] == OP_SHORT || (at[0] & 0xf0) == 0x70) {
        *ret_target = SHORT_SIZE + (int8_t)at[1];
        return true;
    }
    size_t size = at[0] == OP_NEAR ? 1 : at[0] == TWO_BYTES && (at[1] & 0xf0) == 0x80 ? 2 : 0;
    if (!size || code.size < size + sizeof relative)
        return false;
    memcpy(&relative, at + size, sizeof relative);
    *ret_target = (int64_t)(size + sizeof relative) + relative;
    return true;
}

/* `jmp *disp(%rip)` is ff 25 and four bytes, after endbr64 or bnd in some stubs. */
static bool stub_slot(struct yarn_span code, uint64_t address, uint64_t *ret_slot)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    enum { SIZE = 6, OP_BND = 0xf2 };
    int32_t displacement;
    size_t at = 0;
    if (code.size >= sizeof endbr64 && memcmp(code.data, endbr64, sizeof endbr64) == 0)
        at = sizeof endbr64;
    at += at < code.size && code.data[at] == OP_BND;
    if (code.size < at + SIZE || code.data[at] != 0xff || code.data[at + 1] != 0x25)
        return false;
    memcpy(&displacement, code.data + at + 2, sizeof displacement);
    *ret_slot = address + at + SIZE + (uint64_t)(int64_t)displacement;
    return true;
}

const struct yarn_unwind_machine yarn_machine_native = {
    .ip = RIP,
    .sp = RSP,
    .frame = RBP,
    .kept = BIT(RBX) | BIT(RBP) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15),
    .compile = compile,
    .step = step,
    .step_frame_pointer = step_frame_pointer,
    .step_leaf = step_leaf,
    .read_code = yarn_code_rule_x86_64,
    .read_depth = yarn_code_depth_x86_64,
    .allocates = yarn_code_allocates_x86_64,
    .is_call = is_call,
    .is_call_to_next = is_call_to_next,
    .is_reentry = is_reentry,
    .may_jump_on = may_jump_on,
    .call_slot = call_slot,
    .stub_slot = stub_slot,
    .jump_target = jump_target,
};
