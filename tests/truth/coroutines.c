/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Coroutines on stacks of their own, by the C library's contexts; a page without access above each
 * keeps a copy of one stack from running into the next.
 */
#include <sys/mman.h>
#include <ucontext.h>

#include "activation.h"

TRUTH_MAIN_VARIABLES;

enum { COROUTINES = 4, STACK = 64 << 10, PAGE = 4096 };

static ucontext_t scheduler, contexts[COROUTINES];
static struct activation *tops[COROUTINES], *scheduler_top;
static unsigned current;
static uint64_t results[COROUTINES];

TRUTH_NOINLINE static void yield(void)
{
    TRUTH_BEGIN(yield);
    unsigned self = current;
    tops[self] = activation_top;
    swapcontext(&contexts[self], &scheduler);
    activation_top = tops[self];
    TRUTH_END();
}

TRUTH_NOINLINE static uint64_t descend(uint64_t seed, unsigned depth)
{
    TRUTH_BEGIN(descend);
    seed = truth_work(seed, 300);
    if (depth)
        seed += descend(seed, depth - 1);
    else
        yield();
    seed = truth_work(seed, 100);
    TRUTH_END();
    return seed;
}

static void coroutine(void)
{
    activation_top = NULL;
    TRUTH_BEGIN(coroutine);
    unsigned self = current;
    for (;;)
        results[self] = descend(results[self] + self, 1 + (unsigned)(results[self] >> 60));
    TRUTH_END();
}

TRUTH_NOINLINE static void resume(unsigned which)
{
    TRUTH_BEGIN(resume);
    scheduler_top = activation_top;
    current = which;
    activation_top = tops[which];
    swapcontext(&scheduler, &contexts[which]);
    activation_top = scheduler_top;
    TRUTH_END();
}

int main(int argc, char **argv)
{
    TRUTH_BEGIN(main);
    uint64_t seed = 0, count = truth_rounds(argc, argv) * 200000;
    for (unsigned i = 0; i < COROUTINES; i++) {
        char *stack = (char *)mmap(NULL, STACK + PAGE, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        mprotect(stack + STACK, PAGE, PROT_NONE);
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = stack;
        contexts[i].uc_stack.ss_size = STACK;
        contexts[i].uc_link = NULL;
        makecontext(&contexts[i], coroutine, 0);
    }
    for (uint64_t i = 0; i < count; i++)
        resume((unsigned)(i % COROUTINES));
    for (unsigned i = 0; i < COROUTINES; i++)
        seed ^= results[i];
    truth_finish(seed);
    TRUTH_END();
    return 0;
}
