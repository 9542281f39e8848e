/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/live_stack.h"

__attribute__((noinline)) void yarn_live_stack_take(struct yarn_live_stack *live, size_t max)
{
    uint64_t *value = live->registers.value;
    __asm__ volatile("stp x0, x1, [%0, #0]\n\t"
                     "stp x2, x3, [%0, #16]\n\t"
                     "stp x4, x5, [%0, #32]\n\t"
                     "stp x6, x7, [%0, #48]\n\t"
                     "stp x8, x9, [%0, #64]\n\t"
                     "stp x10, x11, [%0, #80]\n\t"
                     "stp x12, x13, [%0, #96]\n\t"
                     "stp x14, x15, [%0, #112]\n\t"
                     "stp x16, x17, [%0, #128]\n\t"
                     "stp x18, x19, [%0, #144]\n\t"
                     "stp x20, x21, [%0, #160]\n\t"
                     "stp x22, x23, [%0, #176]\n\t"
                     "stp x24, x25, [%0, #192]\n\t"
                     "stp x26, x27, [%0, #208]\n\t"
                     "stp x28, x29, [%0, #224]\n\t"
                     "mov x1, sp\n\t"
                     "stp x30, x1, [%0, #240]\n\t"
                     "adr x1, 0f\n\t"
                     "str x1, [%0, #256]\n"
                     "0:"
                     :
                     : "r"(value)
                     : "x1", "memory");
    live->registers.valid = (UINT64_C(1) << 33) - 1;
    live->registers.sp = value[31];
    live->registers.ip = value[32];
    yarn_live_stack_copy(live, max);
    __asm__ volatile(""); /* no jump: the frame has to stay */
}
