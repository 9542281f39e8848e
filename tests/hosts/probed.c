/* SPDX-License-Identifier: Apache-2.0 */
/* `probed HITS [threads|wait]`: four threads call probed_function HITS times each, with the number
 * of the call as first argument, and get it back tripled. Then `threads`: 100 more are made, one
 * after another; `wait`: says "ready" and waits for its end. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NR_THREADS = 4, NR_MADE = 100 };

static long nr_hits;

__attribute__((noipa)) long probed_function(long number, long thread)
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
    if (argc > 2 && !strcmp(argv[2], "wait")) {
        puts("ready");
        fflush(stdout);
        pause();
    }
    return EXIT_SUCCESS;
}
