/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes on stacks of 8 KiB, each with a page below and above it that must not be touched, and
 * switches among them by swapcontext.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "tests/hosts/work.h"

enum { COROUTINES = 8, ROUNDS = 6, PAGE = 4096, STACK = 2 * PAGE };

static ucontext_t scheduler, coroutine[COROUTINES];
static uint64_t value[COROUTINES];

static void run(int number)
{
    for (int i = 0; i < ROUNDS; i++) {
        value[number] = yarn_host_work(1, value[number] + (uint64_t)number, 1);
        swapcontext(&coroutine[number], &scheduler);
    }
}

static int start(int number)
{
    uint8_t *memory = mmap(NULL, STACK + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + PAGE, STACK, PROT_READ | PROT_WRITE))
        return -1;
    getcontext(&coroutine[number]);
    coroutine[number].uc_stack.ss_sp = memory + PAGE;
    coroutine[number].uc_stack.ss_size = STACK;
    coroutine[number].uc_link = &scheduler;
    makecontext(&coroutine[number], (void (*)(void))run, 1, number);
    return 0;
}

int main(void)
{
    for (int i = 0; i < COROUTINES; i++)
        if (start(i))
            return 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < COROUTINES; i++)
            swapcontext(&scheduler, &coroutine[i]);
    uint64_t sum = 0;
    for (int i = 0; i < COROUTINES; i++)
        sum ^= value[i];
    printf("coroutines: %016" PRIx64 "\n", sum);
    return 0;
}
