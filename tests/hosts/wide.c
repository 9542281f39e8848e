/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function whose frame is wider than any copy of a stack, called from two others, nine times as
 * often from one as from the other: `wide [ROUNDS]`.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/hosts/work.h"

enum { FRAME_BYTES = 100 * 1024, PAGE_BYTES = 4096, OFTEN = 9 };

__attribute__((noinline)) static uint64_t wide(uint64_t nr_units, uint64_t seed)
{
    volatile uint8_t room[FRAME_BYTES];
    for (unsigned at = 0; at < FRAME_BYTES; at += PAGE_BYTES)
        room[at] = (uint8_t)seed;
    return yarn_host_work(nr_units, seed, 19) + room[seed % FRAME_BYTES / PAGE_BYTES * PAGE_BYTES];
}

__attribute__((noinline)) static uint64_t often(uint64_t seed)
{
    return wide(OFTEN, seed) ^ 1;
}

__attribute__((noinline)) static uint64_t rarely(uint64_t seed)
{
    return wide(1, seed) + 2;
}

int main(int argc, char **argv)
{
    uint64_t value = 1;
    for (int round = argc > 1 ? atoi(argv[1]) : 5; round > 0; round--) {
        value = often(value);
        value = rarely(value);
    }
    printf("wide: %016" PRIx64 "\n", value);
    return 0;
}
