/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/live_stack.h"

__attribute__((noinline)) void yarn_live_stack_take(struct yarn_live_stack *live, size_t max)
{
    uint64_t *value = live->registers.value;
    __asm__ volatile("movq %%rax, 0(%0)\n\t"
                     "movq %%rdx, 8(%0)\n\t"
                     "movq %%rcx, 16(%0)\n\t"
                     "movq %%rbx, 24(%0)\n\t"
                     "movq %%rsi, 32(%0)\n\t"
                     "movq %%rdi, 40(%0)\n\t"
                     "movq %%rbp, 48(%0)\n\t"
                     "movq %%rsp, 56(%0)\n\t"
                     "movq %%r8, 64(%0)\n\t"
                     "movq %%r9, 72(%0)\n\t"
                     "movq %%r10, 80(%0)\n\t"
                     "movq %%r11, 88(%0)\n\t"
                     "movq %%r12, 96(%0)\n\t"
                     "movq %%r13, 104(%0)\n\t"
                     "movq %%r14, 112(%0)\n\t"
                     "movq %%r15, 120(%0)\n\t"
                     "leaq 0f(%%rip), %%rax\n\t"
                     "movq %%rax, 128(%0)\n"
                     "0:"
                     :
                     : "D"(value)
                     : "rax", "memory");
    live->registers.valid = (UINT64_C(1) << 17) - 1;
    live->registers.sp = value[7];
    live->registers.ip = value[16];
    yarn_live_stack_copy(live, max);
    __asm__ volatile(""); /* no jump: the frame has to stay */
}
