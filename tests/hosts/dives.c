/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recursions of up to 50 KiB of stack that come and go within a millisecond, each by another path:
 * `dives [DIVES]`, in the main thread, in one that runs beside it, and in one after the other.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { LEVELS_LEAST = 60, LEVELS_MORE = 128, STEPS = 1000, BALLAST = 30 };

struct diver {
    uint64_t nr_dives, value;
};

static uint64_t left(unsigned depth, uint64_t path);
static uint64_t right(unsigned depth, uint64_t path);

/* About a microsecond. */
static inline uint64_t work(uint64_t value)
{
    for (unsigned i = 0; i < STEPS; i++) {
        value = value * UINT64_C(6364136223846793005) + 1442695040888963407;
        __asm__("" : "+r"(value));
    }
    return value;
}

static inline uint64_t go_on(unsigned depth, uint64_t path)
{
    volatile uint64_t ballast[BALLAST];
    ballast[0] = work(path);
    if (depth)
        ballast[1] = path & 1 ? left(depth - 1, path >> 1 | path << 63)
                              : right(depth - 1, path >> 1 | path << 63);
    else
        ballast[1] = path;
    return work(ballast[0] ^ ballast[1]);
}

__attribute__((noinline)) static uint64_t left(unsigned depth, uint64_t path)
{
    return go_on(depth, path) ^ 1;
}

__attribute__((noinline)) static uint64_t right(unsigned depth, uint64_t path)
{
    return go_on(depth, path) + 2;
}

static void *dive(void *argument)
{
    struct diver *diver = argument;
    for (uint64_t i = 0; i < diver->nr_dives; i++) {
        uint64_t path = work(diver->value + i);
        diver->value ^= left(LEVELS_LEAST + (unsigned)(path >> 40) % LEVELS_MORE, path);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    uint64_t nr_dives = argc > 1 ? (uint64_t)atoi(argv[1]) : 1000;
    struct diver divers[] = {{nr_dives, 1}, {nr_dives, 2}, {nr_dives, 3}};
    pthread_t beside, after;
    if (pthread_create(&beside, NULL, dive, &divers[1]))
        return EXIT_FAILURE;
    (void)dive(&divers[0]);
    if (pthread_join(beside, NULL) || pthread_create(&after, NULL, dive, &divers[2]) ||
        pthread_join(after, NULL))
        return EXIT_FAILURE;
    printf("dives: %016" PRIx64 "\n", divers[0].value ^ divers[1].value ^ divers[2].value);
    return 0;
}
