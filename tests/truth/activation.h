/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Activations: records that each function of a test program lays into its own stack frame while it
 * runs, linked to its caller's. A copy of the stack thus shows by itself who called whom, whatever
 * an unwinder makes of it (tests/truth/judge.py reads it so).
 *
 * A record is valid from the store of its mark's second half to the wiping of that, so a function
 * has none in its prologue and its epilogue. The mark is stored in halves so that it never lies
 * whole in a register: a signal's frame, where the registers are saved side by side, would look
 * like a record.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ACTIVATION_MARK_LOW UINT32_C(0x5bd10842)
#define ACTIVATION_MARK_HIGH UINT32_C(0x9e1f7a3c)

struct activation {
    volatile uint32_t mark_low;
    volatile uint32_t mark_high;
    const void *function;
    const void *return_address;
    struct activation *caller; /* NULL: the outermost of this stack */
};

#define TRUTH_NOINLINE __attribute__((noinline))
#define TRUTH_BARRIER() __asm__ volatile("" ::: "memory")
#define TRUTH_BEGIN(self)                                                                          \
    struct activation here;                                                                        \
    activation_begin(&here, (const void *)(uintptr_t)(self), __builtin_return_address(0))
#define TRUTH_END() activation_end(&here)

extern __thread struct activation *activation_top;

static inline __attribute__((always_inline)) void
activation_begin(struct activation *here, const void *function, const void *return_address)
{
    here->function = function;
    here->return_address = return_address;
    here->caller = activation_top;
    TRUTH_BARRIER();
    here->mark_low = ACTIVATION_MARK_LOW;
    here->mark_high = ACTIVATION_MARK_HIGH;
    TRUTH_BARRIER();
    activation_top = here;
    TRUTH_BARRIER();
}

static inline __attribute__((always_inline)) void activation_end(struct activation *here)
{
    TRUTH_BARRIER();
    activation_top = here->caller;
    TRUTH_BARRIER();
    here->mark_high = 0;
    here->mark_low = 0;
    TRUTH_BARRIER();
}

/* Work of its own, that is part of the calling function. */
static inline __attribute__((always_inline)) uint64_t truth_work(uint64_t seed, unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        __asm__ volatile("" : "+r"(seed));
    }
    return seed;
}

#define TRUTH_MAIN_VARIABLES __thread struct activation *activation_top

/* Where the modules lie, for the judge; the last thing that a program does. */
static inline void truth_finish(uint64_t result)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    printf("result %llx\n", (unsigned long long)result);
    while (maps && fgets(line, sizeof line, maps))
        fputs(line, stdout);
    if (maps)
        fclose(maps);
    fflush(stdout);
}

static inline uint64_t truth_rounds(int argc, char **argv)
{
    return argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
}
