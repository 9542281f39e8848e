/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts/quickstart profiles when it is given nothing: four threads whose shares of the
 * CPU time are known, so that a user can see whether the profile is true. About 3 s of CPU.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/hosts/work.h"

#define NR_BLOCKS 30

static _Atomic uint64_t result;

__attribute__((noinline)) static uint64_t compress(uint64_t block)
{
    return yarn_host_work(3, block, 11);
}

__attribute__((noinline)) static uint64_t parse(uint64_t block)
{
    return yarn_host_work(3, block, 13);
}

__attribute__((noinline)) static uint64_t checksum(uint64_t block)
{
    return yarn_host_work(1, block, 17);
}

static void *run_compressor(void *name)
{
    pthread_setname_np(pthread_self(), name);
    for (uint64_t block = 0; block < NR_BLOCKS; block++)
        result ^= compress(block);
    return NULL;
}

static void *run_parser(void *name)
{
    pthread_setname_np(pthread_self(), name);
    for (uint64_t block = 0; block < NR_BLOCKS; block++)
        result ^= parse(block);
    return NULL;
}

static void *run_checker(void *name)
{
    pthread_setname_np(pthread_self(), name);
    for (uint64_t block = 0; block < NR_BLOCKS; block++)
        result ^= checksum(block);
    return NULL;
}

int main(void)
{
    static const struct {
        void *(*run)(void *);
        char name[16];
    } workers[] = {
        {run_compressor, "compressor-0"},
        {run_compressor, "compressor-1"},
        {run_parser, "parser"},
        {run_checker, "checker"},
    };
    enum { NR_WORKERS = sizeof workers / sizeof workers[0] };
    pthread_t threads[NR_WORKERS];

    printf("demo: four threads; of their CPU time, compress takes 60 %%, parse 30 %%, "
           "checksum 10 %%\n");
    for (int i = 0; i < NR_WORKERS; i++) {
        if (pthread_create(&threads[i], NULL, workers[i].run, (void *)workers[i].name))
            return EXIT_FAILURE;
    }
    for (int i = 0; i < NR_WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("demo: done, %016" PRIx64 "\n", (uint64_t)result);
    return 0;
}
