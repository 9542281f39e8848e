/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Frames of 20, 40 and 100 KiB, each called from two places: what lies beyond the copy of the stack
 * cannot be known.
 */
#include <string.h>

#include "activation.h"

TRUTH_MAIN_VARIABLES;

#define HUGE_FRAME(name, bytes)                                                                    \
    TRUTH_NOINLINE static uint64_t name(uint64_t seed)                                             \
    {                                                                                              \
        TRUTH_BEGIN(name);                                                                         \
        volatile uint8_t room[bytes];                                                              \
        memset((void *)(uintptr_t)room, 0, sizeof room);                                           \
        seed = small(truth_work(seed, 9000) + room[seed % sizeof room]);                           \
        seed += room[7];                                                                           \
        TRUTH_END();                                                                               \
        return seed;                                                                               \
    }

TRUTH_NOINLINE static uint64_t small(uint64_t seed)
{
    TRUTH_BEGIN(small);
    seed = truth_work(seed, 9000);
    TRUTH_END();
    return seed;
}

HUGE_FRAME(frame_of_20, 20 << 10)
HUGE_FRAME(frame_of_40, 40 << 10)
HUGE_FRAME(frame_of_100, 100 << 10)

TRUTH_NOINLINE static uint64_t often(uint64_t seed, unsigned which)
{
    TRUTH_BEGIN(often);
    seed = which == 0   ? frame_of_20(seed + 1)
           : which == 1 ? frame_of_40(seed + 2)
                        : frame_of_100(seed + 3);
    seed = truth_work(seed, 100);
    TRUTH_END();
    return seed;
}

TRUTH_NOINLINE static uint64_t seldom(uint64_t seed, unsigned which)
{
    TRUTH_BEGIN(seldom);
    seed = which == 0   ? frame_of_20(seed + 4)
           : which == 1 ? frame_of_40(seed + 5)
                        : frame_of_100(seed + 6);
    seed = truth_work(seed, 200);
    TRUTH_END();
    return seed;
}

int main(int argc, char **argv)
{
    TRUTH_BEGIN(main);
    uint64_t seed = 1, count = truth_rounds(argc, argv) * 20000;
    for (uint64_t i = 0; i < count; i++)
        seed = i % 5 ? often(seed, (unsigned)(i % 3)) : seldom(seed, (unsigned)(i % 3));
    truth_finish(seed);
    TRUTH_END();
    return 0;
}
