/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `paused THREADS`: so many threads that wait for ever, and a main thread that does what it reads,
 * a line each, and answers each by one:
 *     work MS     computes for so much CPU time
 *     thread MS   has another thread do so
 *     sleep N     sleeps N times for 150 ms
 *     raw         leaves by the raw system call with status 7
 *     hand        too, but another thread waits for a line then, and leaves so with 5
 *     end         returns
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/raw.h"

static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;

static uint64_t used_ns(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void *wait_for_ever(void *unused)
{
    pthread_mutex_lock(&never);
    return unused;
}

__attribute__((noinline)) static void work(uint64_t ms)
{
    uint64_t end_ns = used_ns() + ms * 1000000, value = ms;
    while (used_ns() < end_ns)
        for (unsigned i = 0; i < 100000; i++) {
            value = value * UINT64_C(6364136223846793005) + i;
            __asm__("" : "+r"(value));
        }
}

__attribute__((noinline)) static void sleep_often(uint64_t times)
{
    const struct timespec pause = {.tv_nsec = 150000000};
    while (times-- > 0)
        nanosleep(&pause, NULL);
}

static void *work_in_thread(void *ms)
{
    work((uintptr_t)ms);
    return NULL;
}

static _Noreturn void leave_raw(int status)
{
    for (;;)
        yarn_raw_call(SYS_exit, status, 0, 0, 0, 0, 0);
}

static void *leave_after_line(void *unused)
{
    char line[64];
    (void)unused;
    if (read(STDIN_FILENO, line, sizeof line) < 0)
        return NULL;
    leave_raw(5);
}

static void make(void *(*run)(void *), uintptr_t argument, bool is_awaited)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)argument) ||
        (is_awaited && pthread_join(thread, NULL)))
        exit(EXIT_FAILURE);
}

static void answer(void)
{
    if (write(STDOUT_FILENO, "done\n", 5) != 5)
        exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
    char line[64];
    ssize_t size;
    pthread_mutex_lock(&never);
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        make(wait_for_ever, 0, false);
    answer();
    while ((size = read(STDIN_FILENO, line, sizeof line - 1)) > 0) {
        line[size] = 0;
        if (!strncmp(line, "work ", 5))
            work(strtoull(line + 5, NULL, 10));
        if (!strncmp(line, "sleep ", 6))
            sleep_often(strtoull(line + 6, NULL, 10));
        if (!strncmp(line, "thread ", 7))
            make(work_in_thread, strtoull(line + 7, NULL, 10), true);
        if (!strncmp(line, "hand", 4))
            make(leave_after_line, 0, false);
        answer();
        if (!strncmp(line, "raw", 3) || !strncmp(line, "hand", 4))
            leave_raw(7);
        if (!strncmp(line, "end", 3))
            return EXIT_SUCCESS;
    }
    return EXIT_SUCCESS;
}
