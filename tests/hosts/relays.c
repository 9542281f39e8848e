/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host whose threads hand their work on: in each of eight relays a thread works for 10 ms, makes
 * the next one and ends. `relays SECONDS [PARTS]`, of CPU time; each thread works for one of so
 * many parts of 10 ms. Each relay works in a function of its own, for an eighth of all.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/hosts/work.h"

enum { RELAYS = 8 };

static _Atomic int is_over;
static _Atomic unsigned nr_left = RELAYS;
static uint64_t nr_steps = YARN_HOST_STEPS_PER_UNIT;

#define RELAY(number)                                                                              \
    __attribute__((noinline)) static uint64_t relay_##number(uint64_t seed)                        \
    {                                                                                              \
        return yarn_host_steps(nr_steps, seed, 2 * (number) + 11);                                 \
    }
RELAY(0)
RELAY(1)
RELAY(2)
RELAY(3)
RELAY(4)
RELAY(5)
RELAY(6)
RELAY(7)

static uint64_t (*const relays[RELAYS])(uint64_t) = {relay_0, relay_1, relay_2, relay_3,
                                                     relay_4, relay_5, relay_6, relay_7};
static volatile uint64_t sum;

static void *run(void *relay)
{
    pthread_t next;
    sum += relays[(uintptr_t)relay](1);
    if (is_over)
        nr_left--;
    else if (pthread_create(&next, NULL, run, relay) || pthread_detach(next))
        abort();
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 2 && argc != 3)
        return 2;
    nr_steps /= argc == 3 ? strtoul(argv[2], NULL, 10) : 1;
    for (uintptr_t i = 0; i < RELAYS; i++) {
        pthread_t first;
        if (pthread_create(&first, NULL, run, (void *)i) || pthread_detach(first))
            return EXIT_FAILURE;
    }
    struct timespec used, look = {.tv_nsec = 10000000};
    do {
        nanosleep(&look, NULL);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    } while (used.tv_sec < strtol(argv[1], NULL, 10));
    is_over = 1;
    while (nr_left)
        nanosleep(&look, NULL);
    puts("all relays have ended");
    return 3;
}
