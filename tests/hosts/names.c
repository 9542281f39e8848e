/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a stripped copy of this program keeps the names of, next to functions whose names
 * it loses; all equally busy. Among them what is easily given a wrong name: the cold part of a
 * function, an alias, and a call that is the last instruction of its function.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define VISIBLE __attribute__((noinline, visibility("default")))
#define LOCAL __attribute__((noinline)) static

static uint64_t nr_rounds;

__attribute__((always_inline)) static inline uint64_t work(uint64_t value, uint64_t step)
{
    for (int i = 0; i < 2000000; i++) {
        value = value * UINT64_C(6364136223846793005) + step;
        __asm__ volatile("" : "+r"(value));
    }
    return value;
}

/* Different sizes, so that no two have equal bodies, which would be folded into one. */
#define FUNCTION(linkage, name, step)                                                              \
    linkage uint64_t name(uint64_t value);                                                         \
    linkage uint64_t name(uint64_t value)                                                          \
    {                                                                                              \
        value = work(value, step);                                                                 \
        __asm__ volatile(".fill %c1, 1, 0x90" : "+r"(value) : "i"((step) % 40));                   \
        return value;                                                                              \
    }

FUNCTION(VISIBLE, visible_1, 1)
FUNCTION(LOCAL, local_1, 3)
FUNCTION(LOCAL, local_2, 5)
FUNCTION(VISIBLE, visible_2, 7)
FUNCTION(LOCAL, local_3, 31)
FUNCTION(VISIBLE, visible_3, 33)
FUNCTION(LOCAL, local_4, 35)
FUNCTION(LOCAL, local_5, 37)

VISIBLE uint64_t visible_alias(uint64_t value) __attribute__((alias("visible_2")));

__attribute__((noinline, cold)) static uint64_t rare(uint64_t value)
{
    return work(value, 41);
}

/* The compiler puts the branch that calls a cold function elsewhere: into `partly_cold.cold`. */
VISIBLE uint64_t partly_cold(uint64_t value)
{
    if (nr_rounds % 2) {
        value = work(value, 43);
        value = rare(value) ^ 1;
        value = work(value, 45);
    }
    return work(value, 47);
}

__attribute__((noinline, noreturn)) static void finish(uint64_t value)
{
    for (int i = 0; i < 40; i++)
        value = work(value, 49);
    printf("names: %016" PRIx64 "\n", value);
    exit(0);
}

/* Its return address is the first of the next function. */
__attribute__((noinline, noreturn)) static void call_at_the_end(uint64_t value)
{
    finish(value ^ 5);
}

int main(int argc, char **argv)
{
    uint64_t value = 1, end = argc > 1 ? (uint64_t)atoi(argv[1]) : 30;
    static uint64_t (*const functions[])(uint64_t) = {
        visible_1, local_1, local_2, visible_2, local_3, visible_3, local_4, local_5, partly_cold};
    for (nr_rounds = 0; nr_rounds < end; nr_rounds++)
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
            value = functions[i](value);
    call_at_the_end(value);
}
