/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/live_stack.h"

#include <stdio.h>

uint64_t yarn_live_stack_end(uint64_t address)
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

void yarn_live_stack_copy(struct yarn_live_stack *live, size_t max)
{
    uint64_t sp = live->registers.sp, size = yarn_live_stack_end(sp) - sp;
    size = yarn_u64_min(yarn_u64_min(size, max), YARN_LIVE_STACK_MAX) & ~UINT64_C(7);
    copy_words(live->word, (const volatile uint64_t *)(uintptr_t)sp,
               (size_t)size / sizeof(uint64_t));
    live->stack = (struct yarn_stack_copy){
        .start = sp,
        .first = yarn_span_of(live->word, (size_t)size),
    };
}
