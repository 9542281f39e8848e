/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of samples as BPF programs: run here, instruction by instruction, as the kernel would;
 * and where it is permitted, shown to the kernel's own verifier. */
#include <check.h>
#include <linux/bpf_perf_event.h>
#include <stdio.h>
#include <unistd.h>

#include "core/event/attr.h"
#include "core/event/sample_filter.h"
#include "core/sys/bpf.h"
#include "tests/support/suite.h"

static struct yarn_sample_filter filter;

static bool jumps(const struct bpf_insn *code, uint64_t left, uint64_t right)
{
    switch (BPF_OP(code->code)) {
    case BPF_JEQ:
        return left == right;
    case BPF_JNE:
        return left != right;
    case BPF_JLT:
        return left < right;
    case BPF_JGT:
        return left > right;
    case BPF_JLE:
        return left <= right;
    case BPF_JGE:
        return left >= right;
    case BPF_JSET:
        return left & right;
    default:
        ck_abort_msg("a jump of another kind: %x", code->code);
    }
}

static uint64_t run(const struct bpf_perf_event_data *context)
{
    uint64_t registers[11] = {0};
    registers[BPF_REG_1] = (uint64_t)(uintptr_t)context;
    for (size_t at = 0; at < filter.count; at++) {
        const struct bpf_insn *code = &filter.code[at];
        uint64_t *to = &registers[code->dst_reg];
        bool is_constant = BPF_SRC(code->code) == BPF_K;
        uint64_t from = is_constant ? (uint64_t)(int64_t)code->imm : registers[code->src_reg];
        if (code->code == (BPF_JMP | BPF_EXIT))
            return registers[BPF_REG_0];
        switch (BPF_CLASS(code->code)) {
        case BPF_ALU64:
            *to = BPF_OP(code->code) == BPF_XOR ? *to ^ from : from;
            break;
        case BPF_LDX:
            memcpy(to, (const char *)(uintptr_t)registers[code->src_reg] + code->off, sizeof *to);
            break;
        case BPF_LD:
            *to = (uint32_t)code->imm | (uint64_t)(uint32_t)filter.code[++at].imm << 32;
            break;
        case BPF_JMP:
            at += jumps(code, *to, from) ? (size_t)code->off : 0;
            break;
        default:
            ck_abort_msg("an instruction of another kind: %x", code->code);
        }
    }
    ck_abort_msg("it does not end");
}

static const struct {
    const char *text;
    uint64_t ip, address, period;
    bool is_kept;
} rows[] = {
    {"ip == 7", 7, 0, 0, true},
    {"ip == 7", 8, 0, 0, false},
    {"addr != 0xffffffffffff0000", 0, 0xffffffffffff0000, 0, false},
    {"addr >= 0xffffffff81000000", 0, 0xffffffff81000000, 0, true},
    {"addr<0x7fffffffffff", 0, 0x7ffffffffffe, 0, true},
    {"addr > -1", 0, UINT64_MAX, 0, false},
    {"period <= 100", 0, 0, 101, false},
    {"addr & 0x1000", 0, 0x3000, 0, true},
    {"addr & 0x1000", 0, 0x2000, 0, false},
    {"!addr & 0x1000", 0, 0x2000, 0, true},
    {"!!(addr & 0x1000)", 0, 0x2000, 0, false},
    {"ip == 1 || ip == 2 && addr == 3", 1, 0, 0, true},
    {"ip == 1 || ip == 2 && addr == 3", 2, 0, 0, false},
    {"ip == 1 || ip == 2 && addr == 3", 2, 3, 0, true},
    {"(ip == 1 || ip == 2) && addr == 3", 1, 0, 0, false},
    {"(ip == 1 || ip == 2) && addr == 3", 1, 3, 0, true},
    {"ip == 1 && addr == 1 && period == 1", 1, 1, 0, false},
    {"ip == 1 && addr == 1 && period == 1", 1, 1, 1, true},
    {" ! ( ip==1 ||addr==1|| period==1 ) ", 0, 0, 1, false},
    {"!(ip == 1 || addr == 1 || period == 1)", 0, 0, 0, true},
};

START_TEST(a_sample_is_kept_as_the_expression_says)
{
    char context[sizeof(struct bpf_perf_event_data)] = {0};
    memcpy(context + yarn_attr_bpf_ip_offset(), &rows[_i].ip, sizeof(uint64_t));
    memcpy(context + offsetof(struct bpf_perf_event_data, addr), &rows[_i].address,
           sizeof(uint64_t));
    memcpy(context + offsetof(struct bpf_perf_event_data, sample_period), &rows[_i].period,
           sizeof(uint64_t));
    ck_assert_int_eq(yarn_sample_filter_compile(rows[_i].text, &filter), 0);
    ck_assert_uint_eq(run((const void *)context), rows[_i].is_kept);
}
END_TEST

START_TEST(the_kernel_takes_the_program)
{
    ck_assert_int_eq(yarn_sample_filter_compile(rows[_i].text, &filter), 0);
    int program = yarn_bpf_load(filter.code, filter.count);
    if (program == -EPERM || program == -ENOSYS)
        printf("skipped: bpf is refused here: %s\n", strerror(-program));
    else
        ck_assert_int_ge(program, 0);
    if (program >= 0)
        close(program);
}
END_TEST

static const char *const faults[] = {
    "",
    "ip",
    "ip ==",
    "ip == x",
    "fd == 1",
    "ip == 1 &&",
    "(ip == 1",
    "ip = 1",
    "ip == 1 or ",
    "ip == 1 )",
    "ip == \"1\"",
    "ip ~ 1",
    "ip == 99999999999999999999",
};

START_TEST(what_is_no_expression_is_refused)
{
    ck_assert_int_eq(yarn_sample_filter_compile(faults[_i], &filter), -EINVAL);
}
END_TEST

START_TEST(what_is_too_long_or_too_deep_is_refused)
{
    char text[8192] = "ip == 1";
    for (size_t at = strlen(text); at + 16 < sizeof text; at += strlen(" || ip == 1"))
        strcpy(text + at, " || ip == 1");
    ck_assert_int_eq(yarn_sample_filter_compile(text, &filter), -E2BIG);
    memset(text, '(', 1000);
    strcpy(text + 1000, "ip == 1");
    ck_assert_int_eq(yarn_sample_filter_compile(text, &filter), -E2BIG);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("filters of samples");
    TCase *tests = tcase_create("compiled");
    tcase_add_loop_test(tests, a_sample_is_kept_as_the_expression_says, 0,
                        (int)YARN_COUNT_OF(rows));
    tcase_add_loop_test(tests, the_kernel_takes_the_program, 0, (int)YARN_COUNT_OF(rows));
    tcase_add_loop_test(tests, what_is_no_expression_is_refused, 0, (int)YARN_COUNT_OF(faults));
    tcase_add_test(tests, what_is_too_long_or_too_deep_is_refused);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
