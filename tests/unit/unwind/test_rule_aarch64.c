/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "tests/support/made_stack.h"
#include "tests/support/suite.h"
#include "unwind/rule.h"

enum { X19 = 19, X29 = 29, X30 = 30, SP = 31 };
enum { CODE = 0x401000 };

static const struct yarn_machine *const machine = &yarn_machine_aarch64;

/* CFA sp, the return address in x30 */
static const uint8_t entry[] = {0x0c, SP, 0};

static struct yarn_fde fde_of(struct yarn_span instructions, bool is_signal_frame)
{
    return (struct yarn_fde){
        .start = CODE,
        .end = CODE + 0x100,
        .cie_instructions = yarn_span_of(entry, sizeof entry),
        .instructions = instructions,
        .code_align = 4,
        .data_align = -8,
        .return_register = X30,
        .is_signal_frame = is_signal_frame,
    };
}

static struct yarn_rule rule_of(struct yarn_span instructions, uint64_t at)
{
    struct yarn_fde fde = fde_of(instructions, false);
    return machine->compile(&fde, CODE + at);
}

static struct yarn_registers leaf(uint64_t sp, uint64_t x29, uint64_t x30)
{
    struct yarn_registers registers = {.valid = (UINT64_C(1) << 33) - 1, .ip = CODE, .sp = sp};
    registers.value[X29] = x29;
    registers.value[X30] = x30;
    return registers;
}

/*
 *  401000: paciasp                      negate_ra_state
 *  401004: stp x29, x30, [sp, #-32]!    CFA sp+32, x29 at CFA-32, x30 at CFA-24
 *  401008: mov x29, sp
 *  401010: ldp x29, x30, [sp], #32      CFA sp, both restored
 */
#define FRAMED MADE_CODE(0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3, 0x44, 0x0e, 0, 0xdd, 0xde)

START_TEST(a_leaf_returns_to_x30_and_keeps_sp)
{
    struct yarn_stack_copy stack = MADE_WORDS(1, 2);
    struct yarn_registers registers = leaf(MADE_AT(0), MADE_AT(9), 0xca11);
    struct yarn_rule rule = rule_of(FRAMED, 0);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_OK);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.sp, MADE_AT(0));
    ck_assert_uint_eq(registers.value[X29], MADE_AT(9));
    ck_assert(!yarn_registers_has(&registers, X30));
}
END_TEST

START_TEST(a_frame_has_both_in_memory_and_a_signature_is_cut_off)
{
    struct yarn_stack_copy stack = MADE_WORDS(MADE_AT(9), UINT64_C(0x00ab00000000ca11), 3, 4);
    struct yarn_registers registers = leaf(MADE_AT(0), 0xbad, 0xbad);
    struct yarn_rule rule = rule_of(FRAMED, 8);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_OK);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.sp, MADE_AT(4));
    ck_assert_uint_eq(registers.value[X29], MADE_AT(9));
}
END_TEST

START_TEST(x30_is_no_return_address_above_the_leaf)
{
    struct yarn_stack_copy stack = MADE_WORDS(1, 2);
    struct yarn_registers registers = leaf(MADE_AT(0), 0, 0xca11);
    struct yarn_rule rule = rule_of(FRAMED, 0);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_OK);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_FAILED);
}
END_TEST

START_TEST(a_return_address_behind_the_copy_is_cut_off)
{
    struct yarn_stack_copy stack = MADE_WORDS(1);
    struct yarn_registers registers = leaf(MADE_AT(0), 0, 0xbad);
    struct yarn_rule rule = rule_of(FRAMED, 8);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_TRUNCATED);
}
END_TEST

START_TEST(a_signal_frame_gives_every_register_back)
{
    struct yarn_fde fde = fde_of(MADE_CODE(0), true);
    struct yarn_rule rule = machine->compile(&fde, CODE);
    uint64_t words[39 + 33] = {0}; /* 312 bytes of siginfo and ucontext */
    for (uint64_t i = 0; i < 33; i++)
        words[39 + i] = 100 + i;
    struct yarn_stack_copy stack = {MADE_STACK, yarn_span_of(words, sizeof words), {0}};
    struct yarn_registers registers = leaf(MADE_AT(0), 0, 0);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_OK);
    ck_assert_uint_eq(registers.value[0], 100);
    ck_assert_uint_eq(registers.value[X30], 130);
    ck_assert_uint_eq(registers.sp, 131);
    ck_assert_uint_eq(registers.ip, 132);
}
END_TEST

START_TEST(the_frame_record_is_a_chain)
{
    struct yarn_stack_copy stack = MADE_WORDS(1, 2, MADE_AT(8), 0xca11);
    struct yarn_registers registers = leaf(MADE_AT(0), MADE_AT(2), 0xbad);
    ck_assert_int_eq(machine->step_frame_pointer(&stack, &registers), YARN_STEP_OK);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.value[X29], MADE_AT(8));
    ck_assert_uint_eq(registers.sp, MADE_AT(4));
}
END_TEST

START_TEST(an_undefined_return_address_is_the_end)
{
    ck_assert_uint_eq(rule_of(MADE_CODE(7, X30), 0).kind, YARN_RULE_END);
    ck_assert_uint_eq(rule_of(MADE_CODE(0x0f, 2, 0x8f, 0), 0).kind, YARN_RULE_OTHER);
}
END_TEST

START_TEST(calls_are_bl_and_blr)
{
    int64_t target;
    ck_assert(machine->is_call(MADE_CODE(0x02, 0, 0, 0x94), &target)); /* bl .+8 */
    ck_assert_int_eq(target, 4);
    ck_assert(machine->is_call(MADE_CODE(0xff, 0xff, 0xff, 0x97), &target)); /* bl .-4 */
    ck_assert_int_eq(target, -8);
    ck_assert(machine->is_call(MADE_CODE(0x00, 0x00, 0x3f, 0xd6), &target)); /* blr x0 */
    ck_assert_int_eq(target, 0);
    ck_assert(!machine->is_call(MADE_CODE(0xc0, 0x03, 0x5f, 0xd6), &target)); /* ret */
}
END_TEST

START_TEST(instructions_tell_where_frames_begin_and_end)
{
    int64_t distance = 0;
    struct yarn_span save = MADE_CODE(0xfd, 0x7b, 0xbe, 0xa9),
                     move = MADE_CODE(0xfd, 0x03, 0, 0x91);
    struct yarn_span ret = MADE_CODE(0xc0, 0x03, 0x5f, 0xd6), add = MADE_CODE(0x20, 0x04, 0, 0x91);
    ck_assert_int_eq(machine->pushed_before(0, save), 0); /* stp x29, x30, [sp, #-32]! */
    ck_assert_int_eq(machine->pushed_before(0, ret), 0);
    ck_assert_int_eq(machine->pushed_before(0, add), -1);
    ck_assert(machine->is_frame_set_up(move) && !machine->is_frame_set_up(save));
    ck_assert(machine->is_end(ret, &distance) && !machine->is_end(move, &distance));
    ck_assert(!machine->is_end(MADE_CODE(0x40, 0, 0, 0x54), &distance)); /* b.eq .+8 */
    ck_assert_int_eq(distance, 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rule_aarch64");
    TCase *steps = tcase_create("rules and steps");
    tcase_add_test(steps, a_leaf_returns_to_x30_and_keeps_sp);
    tcase_add_test(steps, a_frame_has_both_in_memory_and_a_signature_is_cut_off);
    tcase_add_test(steps, x30_is_no_return_address_above_the_leaf);
    tcase_add_test(steps, a_return_address_behind_the_copy_is_cut_off);
    tcase_add_test(steps, a_signal_frame_gives_every_register_back);
    tcase_add_test(steps, the_frame_record_is_a_chain);
    tcase_add_test(steps, an_undefined_return_address_is_the_end);
    tcase_add_test(steps, calls_are_bl_and_blr);
    tcase_add_test(steps, instructions_tell_where_frames_begin_and_end);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
