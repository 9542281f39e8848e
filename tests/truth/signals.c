/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Handlers of signals that interrupt anywhere: on the same stack, on an alternate one elsewhere,
 * whose copies do not hold the interrupted stack, and in a thread on one right below its stack,
 * whose do.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "activation.h"

TRUTH_MAIN_VARIABLES;

enum { ALTERNATE = 64 << 10, STACK = 256 << 10, PERIOD_NS = 3000000 };

static volatile uint64_t handled;

TRUTH_NOINLINE static uint64_t inside(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(inside);
    seed = truth_work(seed, 100000);
    if (depth)
        seed += inside(seed, depth - 1);
    TRUTH_END();
    return seed;
}

static void handle(int number)
{
    TRUTH_BEGIN(handle);
    handled += inside((uint64_t)number, 2);
    TRUTH_END();
}

TRUTH_NOINLINE static uint64_t interrupted(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(interrupted);
    seed = truth_work(seed, 40);
    if (depth)
        seed += interrupted(seed, depth - 1);
    seed = truth_work(seed, 10);
    TRUTH_END();
    return seed;
}

/* Signals to the calling thread, by its own CPU time. */
static void arm(int number)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = number};
    event._sigev_un._tid = (int)syscall(SYS_gettid);
    struct itimerspec period = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    timer_t timer;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer) ||
        timer_settime(timer, 0, &period, 0))
        abort();
}

static void accept(int number, int flags)
{
    struct sigaction action = {.sa_handler = handle, .sa_flags = flags | SA_RESTART};
    sigaction(number, &action, NULL);
}

static void take_alternate(void *stack)
{
    stack_t alternate = {.ss_sp = stack, .ss_size = ALTERNATE};
    sigaltstack(&alternate, NULL);
}

static uint64_t run(uint64_t count)
{
    uint64_t seed = 1;
    for (uint64_t i = 0; i < count; i++)
        seed += interrupted(seed, (unsigned)(i % 12));
    return seed;
}

/* The argument is the lowest of the thread's stack, where it never comes itself. */
static void *below(void *argument)
{
    TRUTH_BEGIN(below);
    take_alternate(argument);
    arm(SIGUSR2);
    handled += run(*(uint64_t *)((char *)argument + ALTERNATE));
    TRUTH_END();
    return argument;
}

static void *same(void *argument)
{
    TRUTH_BEGIN(same);
    arm(SIGUSR1);
    handled += run(*(uint64_t *)((char *)argument + ALTERNATE));
    TRUTH_END();
    return argument;
}

static pthread_t begin(void *(*function)(void *), uint64_t count)
{
    char *stack =
        (char *)mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;
    pthread_t thread;
    *(uint64_t *)(stack + ALTERNATE) = count;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, STACK);
    if (pthread_create(&thread, &attributes, function, stack))
        abort();
    return thread;
}

int main(int argc, char **argv)
{
    TRUTH_BEGIN(main);
    static char elsewhere[ALTERNATE];
    uint64_t count = truth_rounds(argc, argv) * 500000;
    accept(SIGUSR1, 0);
    accept(SIGUSR2, SA_ONSTACK);
    pthread_t threads[] = {begin(below, count), begin(same, count)};
    take_alternate(elsewhere);
    arm(SIGUSR2);
    uint64_t seed = run(count);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    truth_finish(seed & 0);
    TRUTH_END();
    return 0;
}
