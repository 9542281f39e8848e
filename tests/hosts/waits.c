/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes and waits in turn, by calls that a signal's handler interrupts whatever its flags are,
 * and prints how many were.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/work.h"

static int nr_interrupted;

static void check(int result)
{
    nr_interrupted += result == -1 && errno == EINTR;
}

static void wait_in_all_ways(void)
{
    struct timespec duration = {.tv_nsec = 1500000};
    struct timespec moment;
    struct timeval short_time = {.tv_usec = 1500};
    static sem_t never;
    check(poll(NULL, 0, 2));
    check(nanosleep(&duration, NULL));
    check(usleep(1500));
    check(select(0, NULL, NULL, NULL, &short_time));
    nr_interrupted += clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, NULL) == EINTR;
    clock_gettime(CLOCK_REALTIME, &moment);
    moment.tv_nsec = (moment.tv_nsec + 1500000) % 1000000000;
    check(sem_timedwait(&never, &moment));
}

int main(void)
{
    uint64_t value = 1;
    for (int i = 0; i < 50; i++) {
        value = yarn_host_work(1, value, 1);
        wait_in_all_ways();
    }
    printf("waits: %d interrupted, %016" PRIx64 "\n", nr_interrupted, value);
    return 0;
}
