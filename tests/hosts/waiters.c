/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `waiters THREADS MILLISECONDS`: so many threads that compute and sleep in turns, on all cores,
 * one after the other ending; each prints its number, its life in ns and what its schedstat says at
 * its end. Those of an odd number live a tenth as long, and are made ten times.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { SHORTER = 10, THREADS_MAX = 2000, STACK_BYTES = 64 << 10 };

static uint64_t life_ns;
static unsigned nr_threads;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void say(uint64_t begin_ns)
{
    char text[96] = "";
    int file = open("/proc/thread-self/schedstat", O_RDONLY);
    if (file < 0 || read(file, text, sizeof text - 1) < 0)
        exit(EXIT_FAILURE);
    close(file);
    printf("%d %lu %s", gettid(), (unsigned long)(now_ns() - begin_ns), text);
}

/* Half of the machine's time is asked for in all. */
static void *wait_in_turns(void *shorter)
{
    uint64_t begin_ns = now_ns(), end_ns = begin_ns + life_ns / (shorter ? SHORTER : 1);
    const struct timespec pause = {.tv_nsec = 2000000 + (long)nr_threads * 400000};
    while (now_ns() < end_ns) {
        volatile unsigned step = 0;
        while (step < 300000)
            step = step + 1;
        nanosleep(&pause, NULL);
    }
    say(begin_ns);
    return NULL;
}

static void *make_shorter(void *unused)
{
    pthread_t thread;
    for (unsigned i = 0; i < SHORTER; i++)
        if (pthread_create(&thread, NULL, wait_in_turns, "") || pthread_join(thread, NULL))
            exit(EXIT_FAILURE);
    return unused;
}

int main(int argc, char **argv)
{
    static pthread_t threads[THREADS_MAX];
    pthread_attr_t attr;
    nr_threads = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
    life_ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1000) * 1000000;
    if (nr_threads > THREADS_MAX || pthread_attr_init(&attr) ||
        pthread_attr_setstacksize(&attr, STACK_BYTES))
        return EXIT_FAILURE;
    for (unsigned i = 0; i < nr_threads; i++)
        if (pthread_create(&threads[i], &attr, i % 2 ? make_shorter : wait_in_turns, NULL))
            return EXIT_FAILURE;
    for (unsigned i = 0; i < nr_threads; i++)
        pthread_join(threads[i], NULL);
    return EXIT_SUCCESS;
}
