/* SPDX-License-Identifier: Apache-2.0 */
#include <asm/perf_regs.h>
#include <ucontext.h>

#include "core/sys/context.h"

/* By perf's number: the place in gregs, plus one; 0: none. */
static const uint8_t place[] = {
    [PERF_REG_X86_AX] = REG_RAX + 1,  [PERF_REG_X86_BX] = REG_RBX + 1,
    [PERF_REG_X86_CX] = REG_RCX + 1,  [PERF_REG_X86_DX] = REG_RDX + 1,
    [PERF_REG_X86_SI] = REG_RSI + 1,  [PERF_REG_X86_DI] = REG_RDI + 1,
    [PERF_REG_X86_BP] = REG_RBP + 1,  [PERF_REG_X86_SP] = REG_RSP + 1,
    [PERF_REG_X86_IP] = REG_RIP + 1,  [PERF_REG_X86_R8] = REG_R8 + 1,
    [PERF_REG_X86_R9] = REG_R9 + 1,   [PERF_REG_X86_R10] = REG_R10 + 1,
    [PERF_REG_X86_R11] = REG_R11 + 1, [PERF_REG_X86_R12] = REG_R12 + 1,
    [PERF_REG_X86_R13] = REG_R13 + 1, [PERF_REG_X86_R14] = REG_R14 + 1,
    [PERF_REG_X86_R15] = REG_R15 + 1,
};

uint64_t yarn_context_register(const void *context, unsigned number)
{
    const ucontext_t *user = context;
    if (number >= YARN_COUNT_OF(place) || !place[number])
        return 0;
    return (uint64_t)user->uc_mcontext.gregs[place[number] - 1];
}

uint64_t yarn_context_ip(const void *context)
{
    return yarn_context_register(context, PERF_REG_X86_IP);
}

uint64_t yarn_context_sp(const void *context)
{
    return yarn_context_register(context, PERF_REG_X86_SP);
}
