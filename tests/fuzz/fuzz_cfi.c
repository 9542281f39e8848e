/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Call frame information from hostile bytes: sections of an image, the FDE of an address, its row,
 * its rule, and a step by it over a stack of the same bytes; the rule of the same bytes as code,
 * and the depth of the stack by them.
 *
 * Input: 2 bytes size of .eh_frame_hdr, 2 of .eh_frame, 8 the address, 8 the stack pointer's
 * offset; then the bytes of the two sections; the rest is .debug_frame and the stack.
 */
#include "unwind/cfi_row.h"
#include "unwind/rule.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HDR_VADDR = 0x1000, FRAME_VADDR = 0x20000, DEBUG_VADDR = 0, CODE_VADDR = 0x40000 };

static void step_by(const struct yarn_unwind_machine *machine, const struct yarn_fde *fde,
                    uint64_t vaddr, struct yarn_span stack_bytes, uint64_t offset)
{
    struct yarn_rule rule = machine->compile(fde, vaddr);
    struct yarn_stack_copy stack = {
        .start = UINT64_C(0x7ffd00000000),
        .first = yarn_span_sub(stack_bytes, 0, stack_bytes.size / 2),
        .second = yarn_span_from(stack_bytes, stack_bytes.size / 2),
    };
    struct yarn_registers registers = {
        .valid = UINT64_MAX >> 31, .ip = vaddr, .sp = stack.start + offset % 64};
    if (rule.kind >= YARN_RULE_KIND_COUNT)
        __builtin_trap();
    for (unsigned i = 0; i < YARN_REGISTERS_MAX; i++)
        registers.value[i] = stack.start + offset * i;
    bool can_step = rule.kind == YARN_RULE_REGISTER || rule.kind == YARN_RULE_DEREF ||
                    rule.kind == YARN_RULE_SIGNAL;
    for (unsigned i = 0; can_step && i < 16; i++) {
        uint64_t before = registers.sp;
        enum yarn_step step = machine->step(&rule, &stack, &registers);
        if (step != YARN_STEP_OK)
            break;
        if (rule.kind != YARN_RULE_SIGNAL && registers.sp < before)
            __builtin_trap(); /* a walk must climb */
    }
    (void)machine->step_frame_pointer(&stack, &registers);
    (void)machine->step_leaf(&stack, &registers);
    int64_t target;
    (void)machine->is_call(stack.first, &target);
}

static void read_code(const struct yarn_image *image, uint64_t offset)
{
    struct yarn_code_extent near;
    struct yarn_rule rule = yarn_machine_native.read_code(
        image, &yarn_target_nobody, CODE_VADDR + offset % 64, offset & 64, &near);
    if (rule.kind == YARN_RULE_REGISTER && rule.base == yarn_machine_native.sp &&
        rule.cfa_offset <= 0)
        __builtin_trap(); /* a walk must climb */
}

static void read_depth(struct yarn_span code, uint64_t offset)
{
    struct yarn_code_depth depth;
    (void)yarn_machine_native.allocates(code);
    if (yarn_machine_native.read_depth(code, (uint32_t)offset % 256, &depth) && !depth.bytes)
        __builtin_trap(); /* a walk must climb */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yarn_cursor cursor = yarn_cursor_of(yarn_span_of(data, size));
    uint16_t hdr_size = yarn_cursor_u16(&cursor), frame_size = yarn_cursor_u16(&cursor);
    uint64_t vaddr = yarn_cursor_u64(&cursor), offset = yarn_cursor_u64(&cursor);
    if (cursor.failed)
        return 0;
    struct yarn_span hdr =
        yarn_cursor_span(&cursor, yarn_size_min(hdr_size, yarn_cursor_left(&cursor)));
    struct yarn_span frame =
        yarn_cursor_span(&cursor, yarn_size_min(frame_size, yarn_cursor_left(&cursor)));
    struct yarn_span rest = yarn_cursor_span(&cursor, yarn_cursor_left(&cursor));
    struct yarn_image image = {
        .eh_frame_hdr = {.bytes = hdr, .vaddr = HDR_VADDR},
        .eh_frame = {.bytes = frame, .vaddr = FRAME_VADDR},
        .debug_frame = {.bytes = rest, .vaddr = DEBUG_VADDR},
        .memory = rest,
        .segments = {{CODE_VADDR, rest.size, 0, rest.size, true}},
        .nr_segments = 1,
    };
    struct yarn_fde fde;
    struct yarn_cfi_row row;
    uint64_t from, to;
    if (offset % 2) /* by scans the one half of them, by indexes the other */
        yarn_cfi_index_tables(&image);
    int err = yarn_cfi_find(&image, vaddr, &fde);
    (void)yarn_cfi_gap(&image, vaddr, &from, &to);
    read_code(&image, offset);
    read_depth(rest, offset);
    yarn_frame_table_close(&image.frame_table);
    yarn_cfi_index_close(&image.frame_index);
    yarn_cfi_index_close(&image.debug_index);
    if (err)
        return 0;
    if (vaddr < fde.start || vaddr >= fde.end)
        __builtin_trap();
    if (yarn_cfi_row_at(&fde, vaddr, &row) == 0 && row.place[0].where > YARN_CFI_IS_EXPRESSION)
        __builtin_trap();
    step_by(&yarn_machine_native, &fde, vaddr, rest, offset);
    return 0;
}
