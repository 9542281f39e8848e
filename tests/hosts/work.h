/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit of work of the hosts: a chain of multiplications, each waiting for the one before,
 * so that equal numbers of units cost equal CPU time in whatever function they stand.
 * One unit is about 10 ms. Always inlined: the caller's name is the one that a profile shows.
 */
#pragma once

#include <stdint.h>

#define YARN_HOST_STEPS_PER_UNIT UINT64_C(10000000)

__attribute__((always_inline)) static inline uint64_t yarn_host_work(uint64_t nr_units,
                                                                     uint64_t seed, uint64_t step)
{
    uint64_t value = seed;
    uint64_t nr_steps = nr_units * YARN_HOST_STEPS_PER_UNIT;
    for (uint64_t i = 0; i < nr_steps; i++) {
        value = value * UINT64_C(6364136223846793005) + step;
        /* Keeps the compiler from folding several steps into one. */
        __asm__("" : "+r"(value));
    }
    return value;
}
