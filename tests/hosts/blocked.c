/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that wait in known functions for known times, which it prints:
 *     blocked known MS    a mutex, a condition, a pipe, epoll, a sleep; below a deep, an alloca and
 *                         a realigned frame; "NAME NS" a line
 *     blocked known busy MS    the same beside two threads that hand a byte to and fro
 *     blocked churn MS    eight threads that wait 50 to 2,050 us again and again, each in one of
 *                         eight functions; "TID FUNCTION FROM_NS TO_NS" a line
 *     blocked idle COUNT MS    that many threads wait for ever
 */
#include <alloca.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))
/* So that no call before it is the last of its function. */
#define STAY __asm__ volatile("")

enum { THREADS = 8, WAITS_MAX = 100000, LEAST_US = 50, SPREAD_US = 2000 };

static uint64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void sleep_for(uint64_t ns)
{
    struct timespec left = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (nanosleep(&left, &left))
        continue;
}

/* ---- known ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ends[2], epoll;
static bool is_over;
static uint64_t length_ns;

static APART void wait_mutex(void)
{
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    STAY;
}

static APART void wait_condition(void)
{
    pthread_mutex_lock(&other);
    while (!is_over)
        pthread_cond_wait(&condition, &other);
    pthread_mutex_unlock(&other);
    STAY;
}

static APART void wait_pipe(void)
{
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        abort();
    STAY;
}

static APART void wait_epoll(void)
{
    struct epoll_event event;
    if (epoll_wait(epoll, &event, 1, (int)(length_ns / 2000000)) != 0)
        abort();
    STAY;
}

static APART void wait_sleep(void)
{
    sleep_for(length_ns / 4);
    STAY;
}

static APART void below_deep(unsigned depth)
{
    volatile char bytes[64] = {0};
    if (depth)
        below_deep(depth - 1);
    else
        wait_mutex();
    (void)bytes[0];
}

static APART void below_alloca(size_t size)
{
    volatile char *bytes = alloca(size);
    bytes[0] = 1;
    wait_condition();
    bytes[1] = 1;
}

static APART void below_realigned(void)
{
    volatile char bytes[128] __attribute__((aligned(128))) = {0};
    wait_pipe();
    (void)bytes[0];
}

static APART void below_both(size_t size)
{
    volatile char bytes[128] __attribute__((aligned(128))) = {0};
    volatile char *more = alloca(size);
    more[0] = 1;
    wait_epoll();
    more[1] = bytes[0];
}

static APART void run_mutex(void)
{
    below_deep(20);
    STAY;
}

static APART void run_condition(void)
{
    below_alloca(5000);
    STAY;
}

static APART void run_pipe(void)
{
    below_realigned();
    STAY;
}

static APART void run_epoll(void)
{
    below_both(70000);
    STAY;
}

static APART void run_sleep(void)
{
    wait_sleep();
    STAY;
}

static const struct {
    const char *name;
    void (*run)(void);
} known[] = {{"wait_mutex", run_mutex},
             {"wait_condition", run_condition},
             {"wait_pipe", run_pipe},
             {"wait_epoll", run_epoll},
             {"wait_sleep", run_sleep}};

enum { KNOWN = sizeof known / sizeof known[0] };
static uint64_t waited_ns[KNOWN];

static void *run_known(void *argument)
{
    size_t i = (size_t)(uintptr_t)argument;
    uint64_t begin_ns = now_ns();
    known[i].run();
    waited_ns[i] = now_ns() - begin_ns;
    return NULL;
}

static int wait_in_known_ways(void)
{
    pthread_t threads[KNOWN];
    epoll = epoll_create1(0);
    if (pipe(ends) || epoll < 0)
        return 1;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < KNOWN; i++)
        pthread_create(&threads[i], NULL, run_known, (void *)(uintptr_t)i);
    sleep_for(length_ns);
    pthread_mutex_unlock(&mutex);
    pthread_mutex_lock(&other);
    is_over = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&other);
    if (write(ends[1], "x", 1) != 1)
        return 1;
    for (size_t i = 0; i < KNOWN; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < KNOWN; i++)
        printf("%s %" PRIu64 "\n", known[i].name, waited_ns[i]);
    return 0;
}

/* ---- beside them ---- */

static int busy_ends[2][2];

static void *pass_on(void *argument)
{
    size_t self = (size_t)(uintptr_t)argument;
    cpu_set_t first;
    char byte;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    (void)sched_setaffinity(0, sizeof first, &first);
    while (read(busy_ends[self][0], &byte, 1) == 1 && write(busy_ends[!self][1], &byte, 1) == 1)
        STAY;
    return NULL;
}

static int be_busy(void)
{
    pthread_t thread;
    for (size_t i = 0; i < 2; i++)
        if (pipe(busy_ends[i]) || pthread_create(&thread, NULL, pass_on, (void *)(uintptr_t)i))
            return 1;
    return write(busy_ends[0][1], "x", 1) != 1;
}

/* ---- churn ---- */

static struct {
    pid_t tid;
    unsigned function;
    uint64_t from_ns, to_ns;
} log_of[WAITS_MAX];
static atomic_uint nr_waits;

#define WAIT_IN(n)                                                                                 \
    static APART void wait_in_##n(uint64_t ns)                                                     \
    {                                                                                              \
        sleep_for(ns);                                                                             \
        STAY;                                                                                      \
    }
WAIT_IN(0)
WAIT_IN(1)
WAIT_IN(2)
WAIT_IN(3)
WAIT_IN(4)
WAIT_IN(5)
WAIT_IN(6)
WAIT_IN(7)

static void (*const waits_in[THREADS])(uint64_t ns) = {wait_in_0, wait_in_1, wait_in_2, wait_in_3,
                                                       wait_in_4, wait_in_5, wait_in_6, wait_in_7};

static APART void descend(unsigned depth, unsigned function, uint64_t ns)
{
    volatile char bytes[32] = {0};
    if (depth)
        descend(depth - 1, function, ns);
    else
        waits_in[function](ns);
    (void)bytes[0];
}

static void *run_churn(void *argument)
{
    unsigned seed = (unsigned)(uintptr_t)argument;
    uint64_t end_ns = now_ns() + length_ns;
    prctl(PR_SET_TIMERSLACK, 1);
    while (now_ns() < end_ns) {
        unsigned i = atomic_fetch_add(&nr_waits, 1);
        if (i >= WAITS_MAX)
            break;
        log_of[i].tid = gettid();
        log_of[i].function = (unsigned)rand_r(&seed) % THREADS;
        unsigned depth = (unsigned)rand_r(&seed) % 16;
        uint64_t us = LEAST_US + (unsigned)rand_r(&seed) % SPREAD_US;
        log_of[i].from_ns = now_ns();
        descend(depth, log_of[i].function, us * 1000);
        log_of[i].to_ns = now_ns();
    }
    return NULL;
}

static int churn(void)
{
    pthread_t threads[THREADS];
    for (size_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run_churn, (void *)(uintptr_t)(i + 1));
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < nr_waits && i < WAITS_MAX; i++)
        printf("%d wait_in_%u %" PRIu64 " %" PRIu64 "\n", (int)log_of[i].tid, log_of[i].function,
               log_of[i].from_ns, log_of[i].to_ns);
    return 0;
}

/* ---- idle ---- */

static void *run_idle(void *argument)
{
    pause();
    return argument;
}

static int idle(int count)
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 << 10);
    for (int i = 0; i < count; i++)
        if (pthread_create(&thread, &attributes, run_idle, NULL))
            return 1;
    sleep_for(length_ns);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    length_ns = strtoull(argv[argc - 1], NULL, 10) * 1000000;
    if (strcmp(argv[2], "busy") == 0 && be_busy())
        return 1;
    if (strcmp(argv[1], "idle") == 0)
        exit(idle(atoi(argv[2])));
    return strcmp(argv[1], "churn") == 0 ? churn() : wait_in_known_ways();
}
