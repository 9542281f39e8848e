/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host with a known answer: hot_a, hot_b and hot_c take 60, 30 and 10 percent of the CPU
 * time, at the bottom of 30 calls of descend. `split [ROUNDS]`; a round is about 100 ms.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/hosts/work.h"

#define DEPTH 30

/* Each adds a number of its own: equal bodies would be folded into one function. */
__attribute__((noinline)) static uint64_t hot_a(uint64_t seed)
{
    return yarn_host_work(6, seed, 11);
}

__attribute__((noinline)) static uint64_t hot_b(uint64_t seed)
{
    return yarn_host_work(3, seed, 13);
}

__attribute__((noinline)) static uint64_t hot_c(uint64_t seed)
{
    return yarn_host_work(1, seed, 17);
}

/* What is left to do after each call keeps it from becoming a jump, which has no frame. */
__attribute__((noinline)) static uint64_t descend(volatile int depth, uint64_t seed)
{
    if (depth > 1)
        return descend(depth - 1, seed) ^ (uint64_t)depth;
    seed = hot_a(seed);
    seed = hot_b(seed);
    return hot_c(seed) ^ (uint64_t)depth;
}

int main(int argc, char **argv)
{
    int nr_rounds = argc > 1 ? atoi(argv[1]) : 10;
    uint64_t value = 1;
    for (int i = 0; i < nr_rounds; i++)
        value = descend(DEPTH, value);
    printf("split: %d rounds, %016" PRIx64 "\n", nr_rounds, value);
    return 0;
}
