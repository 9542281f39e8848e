/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hosts that leave by pthread_exit. `pexit main`: the main thread leaves while a thread works
 * and returns. `pexit last`: as before, but that thread leaves by pthread_exit too.
 * `pexit alone`: the only thread leaves. All end as by exit(0), with their exit handlers, which
 * work, on the last thread.
 */
#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/hosts/work.h"

static void say_goodbye(void)
{
    printf("exit handler: %016" PRIx64 "\n", yarn_host_work(5, 1, 7));
}

/* The thread ends behind the main one however busy the machine is. */
static sem_t main_has_said;

static void *work_and_return(void *unused)
{
    (void)unused;
    uint64_t value = yarn_host_work(10, 1, 3);
    sem_wait(&main_has_said);
    printf("thread: %016" PRIx64 "\n", value);
    return NULL;
}

static void *work_and_leave(void *unused)
{
    work_and_return(unused);
    pthread_exit(NULL);
}

int main(int argc, char **argv)
{
    if (argc != 2 || atexit(say_goodbye))
        return 2;
    pthread_t thread;
    if (!strcmp(argv[1], "main") && pthread_create(&thread, NULL, work_and_return, NULL))
        return EXIT_FAILURE;
    if (!strcmp(argv[1], "last") && pthread_create(&thread, NULL, work_and_leave, NULL))
        return EXIT_FAILURE;
    printf("main: %016" PRIx64 "\n", yarn_host_work(3, 1, 5));
    sem_post(&main_has_said);
    pthread_exit(NULL);
}
