/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works in a library, unloads it, and moves generated code by mremap to where it was, of which the
 * kernel reports nothing: `remapped_x86_64 FOLDER MILLISECONDS`, the folder of dlloop's libraries.
 * Prints when the generated code began.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { PAGE = 4096, STEPS = 200000 };

/* mov ecx, 200000; 1: dec rcx; jnz 1b; ret */
static const uint8_t loop[] = {0xb9, 0x40, 0x0d, 0x03, 0, 0x48, 0xff, 0xc9, 0x75, 0xfb, 0xc3};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
    uint64_t (*work)(uint64_t, uint64_t), ns = argc > 2 ? strtoull(argv[2], NULL, 10) * 1000000 : 0;
    char path[PAGE];
    (void)snprintf(path, sizeof path, "%s/libdlloop_alpha.so", argc > 1 ? argv[1] : ".");
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    uint8_t *code =
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!library || code == MAP_FAILED)
        return EXIT_FAILURE;
    *(void **)&work = dlsym(library, "alpha_work");
    for (uint64_t end_ns = now_ns() + ns; now_ns() < end_ns;)
        work(STEPS, 1);
    uint8_t *place = (uint8_t *)((uintptr_t)work & -(uintptr_t)PAGE);
    memcpy(code + ((uintptr_t)work & (PAGE - 1)), loop, sizeof loop);
    if (dlclose(library) ||
        mremap(code, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place) != (void *)place)
        return EXIT_FAILURE;
    printf("%llu\n", (unsigned long long)now_ns());
    for (uint64_t end_ns = now_ns() + ns; now_ns() < end_ns;)
        work(STEPS, 1);
    return 0;
}
