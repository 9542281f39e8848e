/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover ROUNDS QUIET_MS: two threads on one core hand a byte to and fro through pipes, then the
 * first sleeps so long, in short pieces. Each prints at its end "TID SWITCHES CPU_NS", by the
 * kernel's count.
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int there[2], back[2];
static long nr_rounds;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void pass_on(int from, int to)
{
    char byte;
    for (long i = 0; i < nr_rounds; i++)
        if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
            exit(EXIT_FAILURE);
}

static void tell(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    printf("%ld %ld %llu\n", syscall(SYS_gettid), usage.ru_nvcsw + usage.ru_nivcsw,
           (unsigned long long)now_ns(CLOCK_THREAD_CPUTIME_ID));
}

static void *answer(void *unused)
{
    pass_on(there[0], back[1]);
    tell();
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    cpu_set_t one;
    const struct timespec piece = {.tv_nsec = 10000000};
    if (argc < 3 || pipe(there) || pipe(back) || write(back[1], "", 1) != 1)
        return EXIT_FAILURE;
    nr_rounds = atol(argv[1]);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one) || pthread_create(&thread, NULL, answer, NULL))
        return EXIT_FAILURE;
    pass_on(back[0], there[1]);
    pthread_join(thread, NULL);
    uint64_t until_ns = now_ns(CLOCK_MONOTONIC) + strtoull(argv[2], NULL, 10) * 1000000;
    while (now_ns(CLOCK_MONOTONIC) < until_ns)
        nanosleep(&piece, NULL);
    tell();
    return EXIT_SUCCESS;
}
