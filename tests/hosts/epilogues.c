/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short functions that save rbp and rbx, called again and again from a function whose frame hangs
 * on rbp: many samples fall on the instructions after `pop %rbp`, where the tables are out of date.
 * `epilogues [MILLIONS]`.
 */
#include <alloca.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static uint64_t leaf(uint64_t value)
{
    __asm__ volatile("" : "+r"(value));
    return value * 3;
}

/* Volatile: what the function leaves alone is not to be known to its caller. */
static uint64_t (*volatile call)(uint64_t) = leaf;

/* What lives across the calls needs registers that are saved. */
__attribute__((noinline)) static uint64_t brief(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t first = call(a);
    uint64_t second = call(b);
    return first ^ second ^ call(c) ^ a ^ b ^ c;
}

/* alloca of an unknown size leaves the compiler rbp alone to find its frame by. */
__attribute__((noinline)) static uint64_t outer(size_t size, uint64_t nr)
{
    unsigned char *bytes = alloca(size);
    uint64_t value = 1;
    memset(bytes, 1, size);
    for (uint64_t i = 0; i < nr; i++)
        value = brief(value, i, bytes[i % size]);
    return value;
}

int main(int argc, char **argv)
{
    uint64_t nr = (argc > 1 ? strtoull(argv[1], NULL, 10) : 300) * 1000000;
    printf("epilogues: %016" PRIx64 "\n", outer(100 + (size_t)argc, nr));
    return 0;
}
