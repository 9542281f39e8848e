/* SPDX-License-Identifier: Apache-2.0 */
#include <asm/perf_regs.h>
#include <signal.h>
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

uint64_t yarn_context_blocked(const void *context)
{
    const ucontext_t *user = context;
    uint64_t mask;
    memcpy(&mask, &user->uc_sigmask, sizeof mask);
    return mask;
}

size_t yarn_context_alternate_bytes(const void *context)
{
    const ucontext_t *user = context;
    return user->uc_stack.ss_flags & SS_DISABLE ? 0 : user->uc_stack.ss_size;
}

/* The instruction leaves its return address in rcx, and the flags in r11. */
bool yarn_context_is_after_call(const void *context)
{
    const ucontext_t *user = context;
    const greg_t *registers = user->uc_mcontext.gregs;
    return registers[REG_RCX] == registers[REG_RIP] && registers[REG_R11] == registers[REG_EFL];
}

/* All else keeps what it had: the first word says how, the fourth is the size of a set. */
bool yarn_context_is_after_unblocking(const void *context)
{
    enum { MASK_BYTES = 8 };
    const ucontext_t *user = context;
    const greg_t *registers = user->uc_mcontext.gregs;
    return yarn_context_is_after_call(context) && registers[REG_RAX] == 0 &&
           registers[REG_R10] == MASK_BYTES && (uint64_t)registers[REG_RDI] <= SIG_SETMASK;
}

/* The kernel puts the address of the way back on the stack, above it the context and above that the
 * siginfo, and gives the handler both addresses. */
const void *yarn_context_interrupted(const void *context)
{
    enum { CONTEXT_BYTES = 304 };
    const ucontext_t *user = context;
    const greg_t *registers = user->uc_mcontext.gregs;
    uint64_t beneath = (uint64_t)registers[REG_RSP] + sizeof(void *);
    bool is_at_entry = (uint64_t)registers[REG_RDX] == beneath &&
                       (uint64_t)registers[REG_RSI] == beneath + CONTEXT_BYTES;
    return is_at_entry ? (const void *)(uintptr_t)beneath : context;
}
