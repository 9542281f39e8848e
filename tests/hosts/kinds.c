/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What events of other kinds than clocks count, in exact numbers: `kinds hits THREADS HITS` has
 * each thread ask for its priority, write to one variable and touch new pages so many times; `kinds
 * turns THREADS TURNS` faults in one function and computes in another, 50 ms of CPU time each in
 * turn; `kinds children CHILDREN HITS` forks as many that touch so many new pages and end.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/hosts/pages.h"

enum { THREADS_MAX = 64, PAGES = 64, TURN_NS = 50000000 };

static volatile uint64_t watched[2];
static long nr_times;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Of itself and of the first process in turn. */
__attribute__((noinline)) static void ask(long nr_asked)
{
    for (long i = 0; i < nr_asked; i++)
        (void)getpriority(PRIO_PROCESS, (id_t)(i % 2));
}

__attribute__((noinline)) static void write_watched(long nr_writes)
{
    for (long i = 0; i < nr_writes; i++)
        __atomic_store_n(&watched[1], (uint64_t)i, __ATOMIC_RELAXED);
}

static void *hit(void *argument)
{
    (void)argument;
    ask(nr_times);
    write_watched(nr_times);
    touch(nr_times);
    return NULL;
}

__attribute__((noinline)) static void fault_a_while(void)
{
    for (uint64_t end_ns = cpu_ns() + TURN_NS; cpu_ns() < end_ns;)
        touch(PAGES);
}

__attribute__((noinline)) static void compute_a_while(void)
{
    uint64_t value = 1;
    for (uint64_t end_ns = cpu_ns() + TURN_NS; cpu_ns() < end_ns;)
        for (int i = 0; i < 100000; i++)
            __asm__ volatile("" : "+r"(value));
}

static void *take_turns(void *argument)
{
    (void)argument;
    for (long i = 0; i < nr_times; i++) {
        fault_a_while();
        compute_a_while();
    }
    return NULL;
}

static int fork_children(int nr_children)
{
    for (int i = 0; i < nr_children; i++) {
        pid_t child = fork();
        if (child < 0)
            return EXIT_FAILURE;
        if (child == 0) {
            touch(nr_times);
            exit(0);
        }
        int status;
        if (waitpid(child, &status, 0) != child || status)
            return EXIT_FAILURE;
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MAX];
    int nr_threads = argc > 2 ? atoi(argv[2]) : 1;
    nr_times = argc > 3 ? atol(argv[3]) : 1;
    if (argc > 3 && strcmp(argv[1], "children") == 0)
        return fork_children(nr_threads);
    if (argc < 2 || nr_threads > THREADS_MAX)
        return EXIT_FAILURE;
    void *(*run)(void *) = strcmp(argv[1], "turns") ? hit : take_turns;
    for (int i = 0; i < nr_threads; i++)
        if (pthread_create(&threads[i], NULL, run, NULL))
            return EXIT_FAILURE;
    for (int i = 0; i < nr_threads; i++)
        if (pthread_join(threads[i], NULL))
            return EXIT_FAILURE;
    printf("%s: done\n", argv[1]);
    return 0;
}
