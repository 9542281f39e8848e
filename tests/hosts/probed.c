/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `probed HITS [threads|wait|cost]`: four threads call probed_function HITS times each, with the
 * number of the call as first argument, and get it back tripled. Then `threads`: 100 more are made,
 * one after another; `wait`: says "ready" and waits for its end; `cost`: 20,000 calls of 50 us of
 * CPU time, 2,000 of 500 us and 50,000 of next to none.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Neither inlined nor copied for one caller. */
#ifdef __clang__
#define PROBED __attribute__((noinline))
#else
#define PROBED __attribute__((noipa))
#endif

enum { NR_THREADS = 4, NR_MADE = 100 };

static long nr_hits;

PROBED long probed_function(long number, long thread)
{
    return 3 * number + (thread < 0);
}

static void *call(void *thread)
{
    for (long i = 0; i < nr_hits; i++)
        if (probed_function(i, (intptr_t)thread) != 3 * i)
            abort();
    return NULL;
}

static uint64_t cpu_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline void spend(uint64_t ns)
{
    uint64_t end_ns = cpu_ns() + ns;
    while (cpu_ns() < end_ns)
        ;
}

PROBED void fifty_us(void)
{
    spend(50000);
}

PROBED void five_hundred_us(void)
{
    spend(500000);
}

static void call_by_cost(void)
{
    for (int i = 0; i < 20000; i++)
        fifty_us();
    for (int i = 0; i < 2000; i++)
        five_hundred_us();
    for (long i = 0; i < 50000; i++)
        if (probed_function(i, 0) != 3 * i)
            abort();
}

static void *end_at_once(void *thread)
{
    return thread;
}

static void make_threads(void)
{
    for (int i = 0; i < NR_MADE; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end_at_once, NULL) || pthread_join(thread, NULL))
            abort();
    }
}

int main(int argc, char **argv)
{
    pthread_t threads[NR_THREADS];
    if (argc < 2)
        return 2;
    nr_hits = atol(argv[1]);
    for (intptr_t i = 0; i < NR_THREADS; i++)
        if (pthread_create(&threads[i], NULL, call, (void *)i))
            return EXIT_FAILURE;
    for (int i = 0; i < NR_THREADS; i++)
        pthread_join(threads[i], NULL);
    if (argc > 2 && !strcmp(argv[2], "threads"))
        make_threads();
    if (argc > 2 && !strcmp(argv[2], "cost"))
        call_by_cost();
    if (argc > 2 && !strcmp(argv[2], "wait")) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    return EXIT_SUCCESS;
}
