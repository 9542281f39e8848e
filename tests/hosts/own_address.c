/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `own_address TIMES`: a function that learns its own address over and over, by `call 1f; 1: pop`,
 * of which its unwind table says nothing.
 */
#include <stdlib.h>

static __attribute__((noinline)) void learn_address(unsigned long times)
{
    while (times--)
        __asm__ volatile(".rept 20\n call 1f\n1: pop %%rax\n .endr" ::: "rax", "memory", "cc");
}

int main(int argc, char **argv)
{
    learn_address(argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000);
    return EXIT_SUCCESS;
}
