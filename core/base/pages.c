/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/pages.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/base/raw.h"

enum { PAGE = 4096 };

static atomic_size_t total;

void *yarn_pages_reserve(size_t size)
{
    long result =
        yarn_raw_call(SYS_mmap, 0, (long)yarn_align_up(size, PAGE), PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return yarn_raw_is_error(result) ? NULL : (void *)result;
}

void yarn_pages_release(void *pages, size_t size)
{
    if (pages)
        yarn_raw_call(SYS_munmap, (long)pages, (long)yarn_align_up(size, PAGE), 0, 0, 0, 0);
}

void yarn_pages_count(size_t more_bytes)
{
    atomic_fetch_add_explicit(&total, more_bytes, memory_order_relaxed);
}

void yarn_pages_uncount(size_t fewer_bytes)
{
    atomic_fetch_sub_explicit(&total, fewer_bytes, memory_order_relaxed);
}

void *yarn_pages_map(size_t size)
{
    void *pages = yarn_pages_reserve(size);
    if (pages)
        yarn_pages_count(yarn_align_up(size, PAGE));
    return pages;
}

void yarn_pages_unmap(void *pages, size_t size)
{
    if (!pages)
        return;
    yarn_pages_release(pages, size);
    yarn_pages_uncount(yarn_align_up(size, PAGE));
}

size_t yarn_pages_total(void)
{
    return atomic_load_explicit(&total, memory_order_relaxed);
}
