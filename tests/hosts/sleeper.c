/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that compute and one that sleeps, all on one core, for `sleeper MILLISECONDS`: each
 * prints its number, what it was and what its schedstat says at its end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t end_ns;

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void compute(unsigned steps)
{
    volatile unsigned step = 0;
    while (step < steps)
        step = step + 1;
}

static void say(const char *what)
{
    char text[96] = "";
    int file = open("/proc/thread-self/schedstat", O_RDONLY);
    if (file < 0 || read(file, text, sizeof text - 1) < 0)
        exit(EXIT_FAILURE);
    close(file);
    printf("%d %s %s", gettid(), what, text);
}

static void *burn(void *unused)
{
    (void)unused;
    while (now_ns() < end_ns)
        compute(10000);
    say("burn");
    return NULL;
}

static void *doze(void *unused)
{
    const struct timespec pause = {.tv_nsec = 3000000};
    (void)unused;
    while (now_ns() < end_ns) {
        nanosleep(&pause, NULL);
        compute(200000);
    }
    say("doze");
    return NULL;
}

int main(int argc, char **argv)
{
    void *(*const runs[])(void *) = {burn, burn, doze};
    pthread_t threads[3];
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET((size_t)sched_getcpu(), &last);
    end_ns = now_ns() + (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000) * 1000000;
    if (sched_setaffinity(0, sizeof last, &last))
        return EXIT_FAILURE;
    for (size_t i = 0; i < 3; i++)
        if (pthread_create(&threads[i], NULL, runs[i], NULL))
            return EXIT_FAILURE;
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return EXIT_SUCCESS;
}
