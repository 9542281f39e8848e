/* SPDX-License-Identifier: Apache-2.0 */
#include <cpuid.h>

#include "core/sys/signal.h"

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

enum {
    STATE_LEAF = 0xd,
    FIRST_EXTENDED = 2,
    LAST_EXTENDED = 62,
    TILES = 18,            /* of AMX */
    LEGACY_BYTES = 576,    /* with the header of what follows */
    NO_STATE_BYTES = 512,  /* a processor without XSAVE */
    AROUND_BYTES = 12 * 64 /* red zone, context, siginfo, alignment: 736 on Linux 6.18 */
};

static uint64_t enabled_states(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

size_t yarn_signal_frame_bytes(void)
{
    uint32_t a, b, c, d;
    size_t bytes = LEGACY_BYTES;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return AROUND_BYTES + NO_STATE_BYTES;
    uint64_t states = enabled_states() & ~(UINT64_C(1) << TILES);
    for (unsigned state = FIRST_EXTENDED; state <= LAST_EXTENDED; state++)
        if (states >> state & 1 && __get_cpuid_count(STATE_LEAF, state, &a, &b, &c, &d))
            bytes = yarn_size_max(bytes, (size_t)a + b);
    return AROUND_BYTES + bytes;
}
