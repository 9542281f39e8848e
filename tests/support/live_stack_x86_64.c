/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "tests/support/live_stack.h"

/* The end of the mapping that holds the address. */
static uint64_t mapping_end(uint64_t address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long start, end;
    uint64_t found = 0;
    char line[1024];
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &start, &end) == 2 && address >= start && address < end)
            found = end;
    if (maps)
        (void)fclose(maps);
    return found;
}

/* Across frames and, under a sanitizer, across the guards between variables. */
__attribute__((no_sanitize("address", "undefined"))) static void
copy_words(uint64_t *to, const volatile uint64_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = from[i];
}

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
    uint64_t size = mapping_end(value[7]) - value[7];
    size = yarn_u64_min(yarn_u64_min(size, max), YARN_LIVE_STACK_MAX) & ~UINT64_C(7);
    copy_words(live->word, (const volatile uint64_t *)(uintptr_t)value[7],
               (size_t)size / sizeof(uint64_t));
    live->stack = (struct yarn_stack_copy){
        .start = value[7],
        .first = yarn_span_of(live->word, (size_t)size),
    };
}
