/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As many calls deep as asked, in frames of two words, and busy at the bottom only:
 * `deepstack DEPTH [UNITS]`; half of the units in the main thread, half in another.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/hosts/work.h"

struct task {
    unsigned depth;
    uint64_t nr_units, value;
};

__attribute__((noinline)) static uint64_t bottom(uint64_t nr_units, uint64_t seed)
{
    return yarn_host_work(nr_units, seed, 19);
}

__attribute__((noinline)) static uint64_t deeper(unsigned depth, const struct task *task)
{
    uint64_t value = depth > 1 ? deeper(depth - 1, task) : bottom(task->nr_units, task->value);
    /* Keeps the call from becoming a jump, and the recursion from becoming a loop. */
    __asm__ volatile("" : "+r"(value));
    return value ^ depth;
}

static void *run(void *argument)
{
    struct task *task = argument;
    task->value = deeper(task->depth, task);
    return NULL;
}

int main(int argc, char **argv)
{
    struct task task = {.depth = argc > 1 ? (unsigned)atoi(argv[1]) : 300,
                        .nr_units = argc > 2 ? (uint64_t)atoi(argv[2]) / 2 : 50,
                        .value = 1};
    pthread_t thread;
    (void)run(&task);
    if (pthread_create(&thread, NULL, run, &task) || pthread_join(thread, NULL))
        return EXIT_FAILURE;
    printf("deepstack: %u deep, %016" PRIx64 "\n", task.depth, task.value);
    return 0;
}
