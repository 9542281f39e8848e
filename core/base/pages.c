/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/pages.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/base/raw.h"

enum { PAGE = 4096 };

static atomic_size_t total;

void *yarn_pages_map(size_t size)
{
    size = yarn_align_up(size, PAGE);
    long result = yarn_raw_call(SYS_mmap, 0, (long)size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (yarn_raw_is_error(result))
        return NULL;
    atomic_fetch_add_explicit(&total, size, memory_order_relaxed);
    return (void *)result;
}

void yarn_pages_unmap(void *pages, size_t size)
{
    if (!pages)
        return;
    size = yarn_align_up(size, PAGE);
    yarn_raw_call(SYS_munmap, (long)pages, (long)size, 0, 0, 0, 0);
    atomic_fetch_sub_explicit(&total, size, memory_order_relaxed);
}

size_t yarn_pages_total(void)
{
    return atomic_load_explicit(&total, memory_order_relaxed);
}
