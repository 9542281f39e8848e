/* SPDX-License-Identifier: Apache-2.0 */
/* New pages, of which each is a page fault when it is touched. */
#pragma once

#include <stdlib.h>
#include <sys/mman.h>

enum { YARN_HOST_PAGE = 4096 };

__attribute__((noinline)) static void touch(long nr_pages)
{
    size_t size = (size_t)nr_pages * YARN_HOST_PAGE;
    volatile char *memory =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        abort();
    (void)madvise((void *)memory, size, MADV_NOHUGEPAGE);
    for (size_t at = 0; at < size; at += YARN_HOST_PAGE)
        memory[at] = 1;
    (void)munmap((void *)memory, size);
}
