/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads every byte of the writable segments of every object, as conservative collectors and leak
 * checkers do: at once, in a child after fork, in a child of that, and again in each once it has
 * worked for a while.
 */
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/hosts/work.h"

enum { GENERATIONS = 3, UNITS = 10 };

static int read_object(struct dl_phdr_info *object, size_t size, void *data)
{
    uint64_t *sum = data;
    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        const volatile uint8_t *bytes = (const void *)(object->dlpi_addr + part->p_vaddr);
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W))
            continue;
        for (size_t at = 0; at < part->p_memsz; at++)
            *sum += bytes[at];
    }
    return 0;
}

static void scan(void)
{
    uint64_t sum = 0;
    dl_iterate_phdr(read_object, &sum);
}

int main(void)
{
    for (int i = 0; i < GENERATIONS; i++) {
        int status = 0;
        scan();
        uint64_t value = yarn_host_work(UNITS, 1, 3);
        scan();
        printf("%d: read all, %u\n", i, (unsigned)(value & 1));
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            continue;
        if (child < 0 || waitpid(child, &status, 0) != child)
            return EXIT_FAILURE;
        printf("%d: child %x\n", i, (unsigned)status);
        return status ? EXIT_FAILURE : 0;
    }
    return 0;
}
