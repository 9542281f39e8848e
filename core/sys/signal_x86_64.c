/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/signal_arch.h"

/* By these very bytes unwinders and debuggers know a signal's frame. The nop in front is for those
 * that look up the address before a return address. */
__asm__(".text\n\t"
        ".balign 16\n\t"
        "nop\n\t"
        ".globl yarn_signal_return\n\t"
        ".hidden yarn_signal_return\n\t"
        ".type yarn_signal_return, @function\n"
        "yarn_signal_return:\n\t"
        "mov $15, %rax\n\t"
        "syscall\n\t"
        ".size yarn_signal_return, . - yarn_signal_return");
