/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unit of work of the hosts: a chain of multiplications, each waiting for the one before,
 * so that equal numbers of units cost equal CPU time in whatever function they stand.
 * One unit is about 10 ms. Always inlined: the caller's name is the one that a profile shows.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#define YARN_HOST_STEPS_PER_UNIT UINT64_C(10000000)
#define YARN_HOST_FACTOR UINT64_C(6364136223846793005)

/* HOST_WORK, which tests set where nothing but the outside matters: equal values without work. */
static const char *yarn_host_leaps;

__attribute__((constructor)) static void yarn_host_ask(void)
{
    yarn_host_leaps = getenv("HOST_WORK");
}

/* Two times as many steps are again a multiplication and an addition. */
__attribute__((always_inline)) static inline uint64_t yarn_host_leap(uint64_t nr_steps,
                                                                     uint64_t value, uint64_t step)
{
    for (uint64_t factor = YARN_HOST_FACTOR; nr_steps; nr_steps /= 2) {
        value = nr_steps % 2 ? value * factor + step : value;
        step *= factor + 1;
        factor *= factor;
    }
    return value;
}

__attribute__((always_inline)) static inline uint64_t yarn_host_steps(uint64_t nr_steps,
                                                                      uint64_t seed, uint64_t step)
{
    uint64_t value = seed;
    if (yarn_host_leaps)
        return yarn_host_leap(nr_steps, seed, step);
    for (uint64_t i = 0; i < nr_steps; i++) {
        value = value * YARN_HOST_FACTOR + step;
        /* Keeps the compiler from folding several steps into one. */
        __asm__("" : "+r"(value));
    }
    return value;
}

__attribute__((always_inline)) static inline uint64_t yarn_host_work(uint64_t nr_units,
                                                                     uint64_t seed, uint64_t step)
{
    return yarn_host_steps(nr_units * YARN_HOST_STEPS_PER_UNIT, seed, step);
}
