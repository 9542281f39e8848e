/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function with an array of 20 KiB that nothing has touched yet, below which work is done:
 * `holes [ROUNDS]`, each round in a new thread, whose stack is new, too.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/hosts/work.h"

enum { ROOM_BYTES = 20 * 1024 };

__attribute__((noinline)) static uint64_t over_hole(uint64_t seed)
{
    uint8_t room[ROOM_BYTES];
    __asm__ volatile("" : : "r"(room) : "memory");
    uint64_t value = yarn_host_work(60, seed, 19);
    __asm__ volatile("" : : "r"(room) : "memory");
    return value;
}

__attribute__((noinline)) static void *begin(void *seed)
{
    uint64_t value = over_hole((uintptr_t)seed);
    __asm__ volatile("" : "+r"(value));
    return (void *)(uintptr_t)value;
}

int main(int argc, char **argv)
{
    void *value = NULL;
    pthread_t thread;
    for (int round = argc > 1 ? atoi(argv[1]) : 2; round > 0; round--)
        if (pthread_create(&thread, NULL, begin, value) || pthread_join(thread, &value))
            return EXIT_FAILURE;
    printf("holes: %016" PRIxPTR "\n", (uintptr_t)value);
    return 0;
}
