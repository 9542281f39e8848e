/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known COUNT MICROSECONDS [threads|pauses]: that many children, two at a time, each of which
 * computes for so long of its own CPU time, in two threads or with pauses if so asked, and says
 * what it has used. Prints "PID NS RAN_NS" of each, and the sum of what the kernel says of them
 * (wait4). RAN_NS is what its threads have seen pass between their switches: a CPU clock begins at
 * the wake-up that leads to a switch, not at the switch, so NS has more.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PAUSE_NS = 200 * 1000, SLICE_NS = 100 * 1000, STEPS = 10000 };

struct used {
    uint64_t ns, ran_ns;
};

/* A stretch of a thread's time without a switch, as far as that was looked at. */
struct stretch {
    long nr_switches;
    uint64_t begin_ns, ran_ns;
};

static _Atomic uint64_t ran_ns;
static uint64_t part_ns;
static int pauses;

static uint64_t cpu_ns(clockid_t clock)
{
    struct timespec now;
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Not all of it is the kernel's clock. */
static void step(void)
{
    for (volatile int i = 0; i < STEPS; i++)
        continue;
}

static long nr_switches(void)
{
    struct rusage usage;
    (void)getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void begin(struct stretch *stretch)
{
    ran_ns += stretch->ran_ns;
    stretch->nr_switches = nr_switches();
    stretch->begin_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    stretch->ran_ns = 0;
}

static uint64_t look(struct stretch *stretch)
{
    uint64_t now_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
    if (nr_switches() == stretch->nr_switches)
        stretch->ran_ns = now_ns - stretch->begin_ns;
    else
        begin(stretch);
    return now_ns;
}

static void *compute(void *unused)
{
    uint64_t slice_ns = 0, now_ns;
    struct stretch stretch = {0};
    begin(&stretch);
    while ((now_ns = look(&stretch)) < part_ns) {
        step();
        if (!pauses || now_ns < slice_ns)
            continue;
        (void)nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
        slice_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) + SLICE_NS;
    }
    ran_ns += stretch.ran_ns;
    return unused;
}

static void run_child(struct used *used, int threads)
{
    pthread_t thread;
    if (threads && !pthread_create(&thread, NULL, compute, NULL)) {
        compute(NULL);
        (void)pthread_join(thread, NULL);
    } else {
        compute(NULL);
    }
    *used = (struct used){cpu_ns(CLOCK_PROCESS_CPUTIME_ID), ran_ns};
    _exit(0);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 0, running = 0;
    uint64_t kernel_us = 0;
    int threads = argc > 3 && !strcmp(argv[3], "threads");
    size_t size = (size_t)(count + 1) * sizeof(struct used);
    pauses = argc > 3 && !strcmp(argv[3], "pauses");
    part_ns = (argc > 2 ? (uint64_t)atol(argv[2]) : 0) * 1000 / (threads ? 2 : 1);
    struct used *used = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t *pids = calloc((size_t)count + 1, sizeof *pids);
    if (used == MAP_FAILED || !pids)
        return EXIT_FAILURE;
    for (long i = 0; i < count || running; i++) {
        struct rusage usage;
        if (i < count && !(pids[i] = fork()))
            run_child(&used[i], threads);
        running += i < count;
        if (running < 2 && i < count - 1)
            continue;
        if (wait4(-1, NULL, 0, &usage) < 0)
            return EXIT_FAILURE;
        running--;
        kernel_us += (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                     (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    }
    for (long i = 0; i < count; i++)
        printf("%d %lu %lu\n", pids[i], used[i].ns, used[i].ran_ns);
    printf("wait4 %lu\n", kernel_us * 1000);
    return 0;
}
