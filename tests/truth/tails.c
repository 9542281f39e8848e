/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tail calls: a function that has given its frame to the next one is no caller any more.
 */
#include "activation.h"

TRUTH_MAIN_VARIABLES;

TRUTH_NOINLINE static uint64_t second(uint64_t seed, unsigned left);
TRUTH_NOINLINE static uint64_t third(uint64_t seed, unsigned left);

/* The functions of the chain have no activations, whose memory would keep them from jumping. */
TRUTH_NOINLINE static uint64_t activity(uint64_t seed)
{
    TRUTH_BEGIN(activity);
    seed = truth_work(seed, 120);
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static uint64_t first(uint64_t seed, unsigned left)
{
    seed = activity(seed);
    return left ? second(seed, left - 1) : seed;
}

TRUTH_NOINLINE static uint64_t second(uint64_t seed, unsigned left)
{
    seed = activity(seed);
    return left ? third(seed + 1, left - 1) : seed;
}

TRUTH_NOINLINE static uint64_t third(uint64_t seed, unsigned left)
{
    seed = activity(seed);
    return left ? first(seed + 2, left - 1) : seed;
}

TRUTH_NOINLINE static uint64_t through(uint64_t seed)
{
    TRUTH_BEGIN(through);
    seed = first(seed, 7) + 1;
    seed = third(seed, (unsigned)seed % 5) + 1;
    TRUTH_END();
    return seed;
}

int main(int argc, char **argv)
{
    TRUTH_BEGIN(main);
    uint64_t seed = 1, count = truth_rounds(argc, argv) * 200000;
    for (uint64_t i = 0; i < count; i++)
        seed = through(seed) + 1;
    truth_finish(seed);
    TRUTH_END();
    return 0;
}
