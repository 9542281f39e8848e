/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host that goes on using an address that it has given back: gives a large mapping back, works,
 * maps over the same address (MAP_FIXED) and expects nobody there; three times.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/hosts/work.h"

#define SIZE ((size_t)64 << 20)
#define NR_ROUNDS 3

static bool is_vacant(const void *region)
{
    /* Refuses where anything is mapped. */
    void *at = mmap((void *)(uintptr_t)region, SIZE, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (at != region)
        return false;
    return munmap(at, SIZE) == 0;
}

static bool use_again(void *region)
{
    void *at = mmap(region, SIZE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if (at != region)
        return false;
    memset(region, 0x5a, SIZE);
    return true;
}

int main(void)
{
    void *region = mmap(NULL, SIZE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED)
        return EXIT_FAILURE;
    uint64_t value = 0;
    for (int i = 0; i < NR_ROUNDS; i++) {
        if (munmap(region, SIZE))
            return EXIT_FAILURE;
        value += yarn_host_work(10, 1, (uint64_t)i);
        printf("round %d: %s\n", i, is_vacant(region) ? "vacant" : "TAKEN");
        fflush(stdout);
        if (!use_again(region))
            return EXIT_FAILURE;
        value += yarn_host_work(2, 1, (uint64_t)i);
    }
    printf("%016" PRIx64 "\n", value);
    return 0;
}
