/* SPDX-License-Identifier: Apache-2.0 */
/* The library of dlloop, built twice: the same code at the same offsets under two names. */
#include <stdint.h>

__attribute__((visibility("default"))) uint64_t DLLOOP_FUNCTION(uint64_t nr_steps, uint64_t seed);

/* Not part of the exported function, so that a local name is at stake too. */
__attribute__((noinline)) static uint64_t DLLOOP_INNER(uint64_t nr_steps, uint64_t seed)
{
    for (uint64_t i = 0; i < nr_steps; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 23;
        __asm__ volatile("" : "+r"(seed));
    }
    return seed;
}

uint64_t DLLOOP_FUNCTION(uint64_t nr_steps, uint64_t seed)
{
    seed = DLLOOP_INNER(nr_steps, seed);
    __asm__ volatile("" : "+r"(seed));
    return seed ^ 1;
}
