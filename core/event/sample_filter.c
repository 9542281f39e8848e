/* SPDX-License-Identifier: Apache-2.0 */
#include "core/event/sample_filter.h"

#include <linux/bpf_perf_event.h>

#include "core/base/text.h"
#include "core/event/attr.h"
#include "core/sys/bpf.h"

enum { DEPTH_MAX = 32 };

/* Registers: R0 is the answer so far, R6 the context, R1 a field, R2 what it is compared with. */
struct compiler {
    const char *at;
    struct yarn_sample_filter *filter;
    unsigned depth;
    int error;
};

/* The first counts. */
static void fail(struct compiler *compiler, int err)
{
    compiler->error = compiler->error ? compiler->error : err;
}

static void emit(struct compiler *compiler, uint8_t code, uint8_t to, uint8_t from, int16_t offset,
                 int32_t value)
{
    struct yarn_sample_filter *filter = compiler->filter;
    if (filter->count == YARN_SAMPLE_FILTER_MAX) {
        fail(compiler, -E2BIG);
        return;
    }
    filter->code[filter->count++] = (struct bpf_insn){
        .code = code,
        .dst_reg = (uint8_t)(to & 15),
        .src_reg = (uint8_t)(from & 15),
        .off = offset,
        .imm = value,
    };
}

static void emit_constant(struct compiler *compiler, uint8_t to, uint64_t value)
{
    emit(compiler, BPF_LD | BPF_DW | BPF_IMM, to, 0, 0, (int32_t)(uint32_t)value);
    emit(compiler, 0, 0, 0, 0, (int32_t)(uint32_t)(value >> 32));
}

static void emit_answer(struct compiler *compiler, int32_t answer)
{
    emit(compiler, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, answer);
}

static void skip_blanks(struct compiler *compiler)
{
    compiler->at += strspn(compiler->at, " ");
}

static bool takes(struct compiler *compiler, const char *text)
{
    skip_blanks(compiler);
    if (strncmp(compiler->at, text, strlen(text)) != 0)
        return false;
    compiler->at += strlen(text);
    return true;
}

static void take_field(struct compiler *compiler)
{
    const struct {
        const char *name;
        size_t offset;
    } fields[] = {
        {"ip", yarn_attr_bpf_ip_offset()},
        {"addr", offsetof(struct bpf_perf_event_data, addr)},
        {"period", offsetof(struct bpf_perf_event_data, sample_period)},
    };
    for (size_t i = 0; i < YARN_COUNT_OF(fields); i++)
        if (takes(compiler, fields[i].name)) {
            emit(compiler, BPF_LDX | BPF_DW | BPF_MEM, BPF_REG_1, BPF_REG_6,
                 (int16_t)fields[i].offset, 0);
            return;
        }
    fail(compiler, -EINVAL);
}

/* The jump that is taken where the comparison holds. */
static uint8_t take_operator(struct compiler *compiler)
{
    static const struct {
        const char *text;
        uint8_t jump;
    } operators[] = {{"==", BPF_JEQ}, {"!=", BPF_JNE}, {"<=", BPF_JLE}, {">=", BPF_JGE},
                     {"<", BPF_JLT},  {">", BPF_JGT},  {"&", BPF_JSET}};
    for (size_t i = 0; i < YARN_COUNT_OF(operators); i++)
        if (takes(compiler, operators[i].text))
            return operators[i].jump;
    fail(compiler, -EINVAL);
    return BPF_JEQ;
}

static uint64_t take_number(struct compiler *compiler)
{
    bool is_negative = takes(compiler, "-");
    size_t size = strspn(compiler->at, "0123456789abcdefABCDEFxX");
    uint64_t value = 0;
    if (yarn_parse_number(compiler->at, size, &value))
        fail(compiler, -EINVAL);
    compiler->at += size;
    return is_negative ? 0 - value : value;
}

static void take_comparison(struct compiler *compiler)
{
    take_field(compiler);
    uint8_t jump = take_operator(compiler);
    emit_constant(compiler, BPF_REG_2, take_number(compiler));
    emit_answer(compiler, 1);
    emit(compiler, BPF_JMP | jump | BPF_X, BPF_REG_1, BPF_REG_2, 1, 0);
    emit_answer(compiler, 0);
}

static void take_any(struct compiler *compiler);

static void take_one(struct compiler *compiler)
{
    bool is_not = false;
    while (takes(compiler, "!"))
        is_not = !is_not;
    if (!takes(compiler, "(")) {
        take_comparison(compiler);
    } else if (compiler->depth == DEPTH_MAX) {
        fail(compiler, -E2BIG);
    } else {
        compiler->depth++;
        take_any(compiler);
        compiler->depth--;
        if (!takes(compiler, ")"))
            fail(compiler, -EINVAL);
    }
    if (is_not)
        emit(compiler, BPF_ALU64 | BPF_XOR | BPF_K, BPF_REG_0, 0, 0, 1);
}

/* Over what follows where the answer is known already. */
static void take_chain(struct compiler *compiler, const char *between, uint8_t known,
                       void (*take)(struct compiler *compiler))
{
    take(compiler);
    while (!compiler->error && takes(compiler, between)) {
        size_t jump = compiler->filter->count;
        emit(compiler, BPF_JMP | known | BPF_K, BPF_REG_0, 0, 0, 0);
        take(compiler);
        if (!compiler->error)
            compiler->filter->code[jump].off = (int16_t)(compiler->filter->count - jump - 1);
    }
}

static void take_all(struct compiler *compiler)
{
    take_chain(compiler, "&&", BPF_JEQ, take_one);
}

static void take_any(struct compiler *compiler)
{
    take_chain(compiler, "||", BPF_JNE, take_all);
}

int yarn_sample_filter_compile(const char *text, struct yarn_sample_filter *ret_filter)
{
    struct compiler compiler = {.at = text, .filter = ret_filter};
    ret_filter->count = 0;
    emit(&compiler, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
    take_any(&compiler);
    emit(&compiler, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
    skip_blanks(&compiler);
    if (*compiler.at)
        fail(&compiler, -EINVAL);
    return compiler.error;
}

const char *yarn_sample_filter_refusal(int err)
{
    switch (err) {
    case -EPERM:
    case -EACCES:
        return "its filter is a BPF program: CAP_BPF and CAP_PERFMON permit it (CAP_SYS_ADMIN "
               "before Linux 5.8)";
    case -ENOSYS:
        return "its filter is a BPF program, which this kernel, or a filter of system calls, does "
               "not take";
    case -E2BIG:
        return "its filter is too long, or its brackets are too deep";
    default:
        return "the kernel does not take its filter";
    }
}

int yarn_sample_filter_load(const char *text)
{
    struct yarn_sample_filter filter;
    int err = yarn_sample_filter_compile(text, &filter);
    return err ? err : yarn_bpf_load(filter.code, filter.count);
}
