/* SPDX-License-Identifier: Apache-2.0 */
#include <check.h>

#include "tests/support/made_stack.h"
#include "tests/support/suite.h"
#include "unwind/rule.h"

enum { RBX = 3, RBP = 6, RSP = 7, R10 = 10, R12 = 12 };
enum { CODE = 0x401000 };

static const struct yarn_unwind_machine *const machine = &yarn_machine_native;

/* CFA rsp+8, rip at CFA-8 */
static const uint8_t entry[] = {0x0c, RSP, 8, 0x90, 1};

static struct yarn_fde fde_of(struct yarn_span instructions, bool is_signal_frame)
{
    return (struct yarn_fde){
        .start = CODE,
        .end = CODE + 0x100,
        .cie_instructions = yarn_span_of(entry, sizeof entry),
        .instructions = instructions,
        .code_align = 1,
        .data_align = -8,
        .return_register = 16,
        .is_signal_frame = is_signal_frame,
    };
}

static struct yarn_rule rule_of(struct yarn_span instructions, uint64_t at)
{
    struct yarn_fde fde = fde_of(instructions, false);
    return machine->compile(&fde, CODE + at);
}

static struct yarn_registers leaf(uint64_t sp, uint64_t rbp, uint64_t rbx)
{
    struct yarn_registers registers = {.valid = (1 << 17) - 1, .ip = CODE, .sp = sp};
    registers.value[RBP] = rbp;
    registers.value[RBX] = rbx;
    registers.value[RSP] = sp;
    return registers;
}

static void assert_step(struct yarn_span instructions, uint64_t at, struct yarn_stack_copy stack,
                        struct yarn_registers *registers)
{
    struct yarn_rule rule = rule_of(instructions, at);
    ck_assert_int_eq(machine->step(&rule, &stack, registers), YARN_STEP_OK);
}

/*
 *  401000: push %rbp          CFA rsp+8
 *  401001: mov  %rsp,%rbp     CFA rsp+16, rbp at CFA-16
 *  401004: sub  $16,%rsp      CFA rbp+16
 *  40100c: leave
 *  40100d: ret                CFA rsp+8
 */
#define FRAMED MADE_CODE(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, RBP, 0x49, 0x0c, RSP, 8)

START_TEST(at_the_entry_only_the_return_address_is_there)
{
    struct yarn_registers registers = leaf(MADE_AT(0), 0xb0b, 0xb1b);
    assert_step(FRAMED, 0, MADE_WORDS(0xca11), &registers);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.sp, MADE_AT(1));
    ck_assert_uint_eq(registers.value[RBP], 0xb0b);
    ck_assert(yarn_registers_has(&registers, RBP));
}
END_TEST

START_TEST(behind_the_push_rbp_lies_on_the_stack)
{
    struct yarn_registers registers = leaf(MADE_AT(0), 0xbad, 0);
    assert_step(FRAMED, 1, MADE_WORDS(0xb0b, 0xca11), &registers);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.value[RBP], 0xb0b);
}
END_TEST

START_TEST(inside_the_frame_the_cfa_hangs_on_rbp)
{
    struct yarn_registers registers = leaf(MADE_AT(0), MADE_AT(2), 0);
    assert_step(FRAMED, 8, MADE_WORDS(1, 2, 0xb0b, 0xca11), &registers);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.sp, MADE_AT(4));
    ck_assert_uint_eq(registers.value[RBP], 0xb0b);
}
END_TEST

START_TEST(behind_the_pop_a_slot_below_sp_is_not_read)
{
    /* at `ret`: the table still says rbp at CFA-16, which is below sp; rbp has its value back */
    struct yarn_registers registers = leaf(MADE_AT(1), 0xb0b, 0);
    assert_step(FRAMED, 0xd, MADE_WORDS(0xbad, 0xca11), &registers);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.value[RBP], 0xb0b);
    ck_assert(yarn_registers_has(&registers, RBP));
}
END_TEST

START_TEST(only_what_a_call_preserves_is_known_of_the_caller)
{
    struct yarn_registers registers = leaf(MADE_AT(0), 1, 2);
    assert_step(FRAMED, 0, MADE_WORDS(0xca11), &registers);
    ck_assert_uint_eq(registers.valid, 1 << RBP | 1 << RBX);
}
END_TEST

START_TEST(a_cfa_by_rbx_is_followed_as_in_dl_runtime_resolve)
{
    /*  push %rbx; mov %rsp,%rbx; and $-64,%rsp: rbx at CFA-32, CFA rbx+32 */
    struct yarn_registers registers = leaf(MADE_AT(0), 0xb0b, MADE_AT(2));
    assert_step(MADE_CODE(0x83, 4, 0x0c, RBX, 32), 0, MADE_WORDS(1, 2, 0xb1b, 4, 5, 0xca11),
                &registers);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.value[RBX], 0xb1b);
}
END_TEST

START_TEST(a_realigned_frame_keeps_its_cfa_in_a_slot)
{
    /*  lea 8(%rsp),%r10; and $-32,%rsp; push -8(%r10); push %rbp; mov %rsp,%rbp; push %r10
     *  def_cfa_expression breg6 -8, deref; rbp: expression breg6 0 */
    struct yarn_registers registers = leaf(MADE_AT(0), MADE_AT(2), 0);
    struct yarn_span code = MADE_CODE(0x0f, 3, 0x76, 0x78, 0x06, 0x10, RBP, 2, 0x76, 0);
    ck_assert_uint_eq(rule_of(code, 0).kind, YARN_RULE_DEREF);
    assert_step(code, 0, MADE_WORDS(1, MADE_AT(6), 0xb0b, 0xca11, 4, 0xca11), &registers);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.sp, MADE_AT(6));
    ck_assert_uint_eq(registers.value[RBP], 0xb0b);
}
END_TEST

START_TEST(a_cfa_by_r10_holds_in_the_leaf_and_is_unknown_above)
{
    struct yarn_stack_copy stack = MADE_WORDS(1, 2, 3, 0xca11);
    struct yarn_registers registers = leaf(MADE_AT(0), 0, 0);
    struct yarn_rule rule = rule_of(MADE_CODE(0x0c, R10, 0), 0);
    registers.value[R10] = MADE_AT(4);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_OK);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_UNKNOWN);
}
END_TEST

/* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
#define PLT MADE_CODE(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22)

START_TEST(a_plt_entry_has_pushed_from_its_eleventh_byte)
{
    ck_assert_uint_eq(rule_of(PLT, 0x10).kind, YARN_RULE_REGISTER);
    ck_assert_int_eq(rule_of(PLT, 0x10).cfa_offset, 8);
    ck_assert_int_eq(rule_of(PLT, 0x1a).cfa_offset, 8);
    ck_assert_int_eq(rule_of(PLT, 0x1b).cfa_offset, 16);
    ck_assert_int_eq(rule_of(PLT, 0x1f).cfa_offset, 16);
}
END_TEST

START_TEST(rows_that_no_rule_expresses_are_left_to_libunwind)
{
    ck_assert_uint_eq(rule_of(MADE_CODE(0x0f, 2, 0x76, 8), 0).kind, YARN_RULE_OTHER);
    ck_assert_uint_eq(rule_of(MADE_CODE(9, RBP, R12), 0).kind, YARN_RULE_OTHER);
    ck_assert_uint_eq(rule_of(MADE_CODE(0x11, 16, 0x7e), 0).kind, YARN_RULE_OTHER);
    ck_assert_uint_eq(rule_of(MADE_CODE(0x87, 2), 0).kind, YARN_RULE_OTHER);
    ck_assert_uint_eq(rule_of(MADE_CODE(9, 16, R12), 0).kind, YARN_RULE_OTHER);
}
END_TEST

START_TEST(an_undefined_return_address_is_the_end)
{
    ck_assert_uint_eq(rule_of(MADE_CODE(7, 16), 0).kind, YARN_RULE_END);
}
END_TEST

START_TEST(malformed_instructions_are_bad)
{
    ck_assert_uint_eq(rule_of(MADE_CODE(0x3f), 0).kind, YARN_RULE_BAD);
}
END_TEST

START_TEST(a_signal_frame_gives_every_register_back)
{
    /* __restore_rt: rip by `breg7 168`; the ucontext begins at sp */
    struct yarn_fde fde = fde_of(MADE_CODE(0x10, 16, 3, 0x77, 0xa8, 0x01), true);
    struct yarn_rule rule = machine->compile(&fde, CODE);
    uint64_t words[5 + 17] = {0};
    for (uint64_t i = 0; i < 17; i++)
        words[5 + i] = 100 + i; /* r8 first */
    struct yarn_stack_copy stack = {MADE_STACK, yarn_span_of(words, sizeof words), {0}, NULL, 0, 0};
    struct yarn_registers registers = leaf(MADE_AT(0), 0, 0);
    ck_assert_uint_eq(rule.kind, YARN_RULE_SIGNAL);
    ck_assert(rule.is_signal);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_OK);
    ck_assert_uint_eq(registers.value[8], 100);
    ck_assert_uint_eq(registers.value[RBP], 110);
    ck_assert_uint_eq(registers.value[RBX], 111);
    ck_assert_uint_eq(registers.value[0], 113);
    ck_assert_uint_eq(registers.sp, 115);
    ck_assert_uint_eq(registers.ip, 116);
    stack.first.size -= 8;
    registers = leaf(MADE_AT(0), 0, 0);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_TRUNCATED);
}
END_TEST

static const struct {
    uint64_t sp, rbp;
    enum yarn_step want;
} faults[] = {
    {MADE_AT(0), MADE_AT(1), YARN_STEP_TRUNCATED},      /* return address behind the copy */
    {MADE_AT(0), MADE_AT(4000), YARN_STEP_TRUNCATED},   /* far behind it */
    {MADE_AT(0), MADE_AT(1) + 4, YARN_STEP_FAILED},     /* not at a word */
    {MADE_AT(0), UINT64_C(0x100000), YARN_STEP_FAILED}, /* below the stack */
    {MADE_AT(0), UINT64_MAX - 7, YARN_STEP_FAILED},     /* wraps */
    {MADE_AT(0), MADE_STACK << 2, YARN_STEP_FAILED},    /* no stack is there */
    {MADE_AT(1), MADE_AT(0) - 8, YARN_STEP_FAILED},     /* CFA not above sp */
};

START_TEST(a_step_that_makes_no_sense_changes_nothing)
{
    struct yarn_registers registers = leaf(faults[_i].sp, faults[_i].rbp, 0), before = registers;
    struct yarn_rule rule = rule_of(MADE_CODE(0x0c, RBP, 16), 0);
    struct yarn_stack_copy stack = MADE_WORDS(1, 2);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), faults[_i].want);
    ck_assert_mem_eq(&registers, &before, sizeof before);
}
END_TEST

START_TEST(a_return_address_of_zero_is_the_end)
{
    struct yarn_registers registers = leaf(MADE_AT(0), 0, 0);
    struct yarn_rule rule = rule_of(MADE_CODE(0), 0);
    struct yarn_stack_copy stack = MADE_WORDS(0);
    ck_assert_int_eq(machine->step(&rule, &stack, &registers), YARN_STEP_END);
}
END_TEST

START_TEST(a_word_across_the_ring_s_seam_is_read_whole)
{
    const uint8_t bytes[16] = {0x11, 0xca, 0, 0, 0, 0, 0, 0};
    struct yarn_stack_copy stack = {
        MADE_STACK, yarn_span_of(bytes, 1), yarn_span_of(bytes + 1, sizeof bytes - 1), NULL, 0, 0};
    struct yarn_registers registers = leaf(MADE_AT(0), 0, 0);
    assert_step(MADE_CODE(0), 0, stack, &registers);
    ck_assert_uint_eq(registers.ip, 0xca11);
}
END_TEST

START_TEST(frame_pointers_are_followed_only_upwards_and_near)
{
    struct yarn_stack_copy stack = MADE_WORDS(1, MADE_AT(3), 0xca11, 0, 0xca12);
    struct yarn_registers registers = leaf(MADE_AT(0), MADE_AT(1), 0);
    ck_assert_int_eq(machine->step_frame_pointer(&stack, &registers), YARN_STEP_OK);
    ck_assert_uint_eq(registers.ip, 0xca11);
    ck_assert_uint_eq(registers.sp, MADE_AT(3));
    ck_assert_uint_eq(registers.value[RBP], MADE_AT(3));
    registers = leaf(MADE_AT(1), MADE_AT(0), 0);
    ck_assert_int_eq(machine->step_frame_pointer(&stack, &registers), YARN_STEP_UNKNOWN);
    registers = leaf(MADE_AT(0), MADE_AT(1) + (1 << 20), 0);
    ck_assert_int_eq(machine->step_frame_pointer(&stack, &registers), YARN_STEP_UNKNOWN);
    registers = leaf(MADE_AT(0), MADE_AT(1) + 1, 0);
    ck_assert_int_eq(machine->step_frame_pointer(&stack, &registers), YARN_STEP_UNKNOWN);
    registers = leaf(MADE_AT(0), MADE_AT(4), 0);
    ck_assert_int_eq(machine->step_frame_pointer(&stack, &registers), YARN_STEP_TRUNCATED);
}
END_TEST

START_TEST(calls_are_recognised_by_their_last_bytes)
{
    const struct {
        const char *what;
        struct yarn_span code;
        bool is_call;
        int64_t target;
    } calls[] = {
        {"call rel32", MADE_CODE(0x90, 0xe8, 0x10, 0, 0, 0), true, 0x10},
        {"call rel32 back", MADE_CODE(0xe8, 0xf0, 0xff, 0xff, 0xff), true, -16},
        {"call *%rax", MADE_CODE(0x90, 0x90, 0xff, 0xd0), true, 0},
        {"call *%r11", MADE_CODE(0x90, 0x41, 0xff, 0xd3), true, 0},
        {"call *8(%rax)", MADE_CODE(0x90, 0xff, 0x50, 8), true, 0},
        {"call *8(%rsp)", MADE_CODE(0xff, 0x54, 0x24, 8), true, 0},
        {"call *rel(%rip)", MADE_CODE(0xff, 0x15, 1, 2, 3, 4), true, 0},
        {"call *disp32(%rax)", MADE_CODE(0xff, 0x90, 1, 2, 3, 4), true, 0},
        {"call *disp32(,%rax,8)", MADE_CODE(0xff, 0x14, 0xc5, 1, 2, 3, 4), true, 0},
        {"jmp *%rax", MADE_CODE(0x90, 0x90, 0xff, 0xe0), false, 0},
        {"nops", MADE_CODE(0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90), false, 0},
        {"too short", MADE_CODE(0xff), false, 0},
        {"a call with more behind it", MADE_CODE(0xff, 0xd0, 0x90), false, 0},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(calls); i++) {
        int64_t target = -1;
        ck_assert_msg(machine->is_call(calls[i].code, &target) == calls[i].is_call, "%s",
                      calls[i].what);
        ck_assert_msg(target == calls[i].target, "%s", calls[i].what);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("rule_x86_64");
    TCase *steps = tcase_create("rules and steps");
    tcase_add_test(steps, at_the_entry_only_the_return_address_is_there);
    tcase_add_test(steps, behind_the_push_rbp_lies_on_the_stack);
    tcase_add_test(steps, inside_the_frame_the_cfa_hangs_on_rbp);
    tcase_add_test(steps, behind_the_pop_a_slot_below_sp_is_not_read);
    tcase_add_test(steps, only_what_a_call_preserves_is_known_of_the_caller);
    tcase_add_test(steps, a_cfa_by_rbx_is_followed_as_in_dl_runtime_resolve);
    tcase_add_test(steps, a_realigned_frame_keeps_its_cfa_in_a_slot);
    tcase_add_test(steps, a_cfa_by_r10_holds_in_the_leaf_and_is_unknown_above);
    tcase_add_test(steps, a_plt_entry_has_pushed_from_its_eleventh_byte);
    tcase_add_test(steps, rows_that_no_rule_expresses_are_left_to_libunwind);
    tcase_add_test(steps, an_undefined_return_address_is_the_end);
    tcase_add_test(steps, malformed_instructions_are_bad);
    tcase_add_test(steps, a_signal_frame_gives_every_register_back);
    tcase_add_loop_test(steps, a_step_that_makes_no_sense_changes_nothing, 0,
                        YARN_COUNT_OF(faults));
    tcase_add_test(steps, a_return_address_of_zero_is_the_end);
    tcase_add_test(steps, a_word_across_the_ring_s_seam_is_read_whole);
    tcase_add_test(steps, frame_pointers_are_followed_only_upwards_and_near);
    tcase_add_test(steps, calls_are_recognised_by_their_last_bytes);
    suite_add_tcase(suite, steps);
    return run_suite(suite);
}
