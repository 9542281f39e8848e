/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/libunwind_host.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/base/pages.h"
#include "core/base/raw.h"

enum { HEAD_SIZE = 16, PAGE_SIZE = 4096 };

/* One block a mapping: libunwind allocates once an address space. */
void *yarn_libunwind_host_malloc(size_t size)
{
    if (size > SIZE_MAX - HEAD_SIZE)
        return NULL;
    size += HEAD_SIZE;
    uint8_t *block = yarn_pages_map(size);
    if (!block)
        return NULL;
    memcpy(block, &size, sizeof size);
    return block + HEAD_SIZE;
}

void *yarn_libunwind_host_calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total))
        return NULL;
    return yarn_libunwind_host_malloc(total);
}

void yarn_libunwind_host_free(void *memory)
{
    size_t size;
    if (!memory)
        return;
    uint8_t *block = (uint8_t *)memory - HEAD_SIZE;
    memcpy(&size, block, sizeof size);
    yarn_pages_unmap(block, size);
}

void *yarn_libunwind_host_mmap(void *at, size_t size, int protection, int flags, int fd,
                               off_t offset)
{
    (void)at;
    (void)protection;
    (void)flags;
    (void)offset;
    void *pages = fd == -1 ? yarn_pages_map(size) : NULL;
    if (!pages)
        return MAP_FAILED;
    /* Its pools have static heads: a child after fork goes on with them. */
    yarn_pages_show_to_children(pages, size);
    return pages;
}

int yarn_libunwind_host_munmap(void *at, size_t size)
{
    yarn_pages_unmap(at, size);
    return 0;
}

int yarn_libunwind_host_pthread_mutex_init(void *mutex, const void *attributes)
{
    (void)mutex;
    (void)attributes;
    return 0;
}

int yarn_libunwind_host_pthread_mutex_lock(void *mutex)
{
    (void)mutex;
    return 0;
}

int yarn_libunwind_host_pthread_mutex_unlock(void *mutex)
{
    (void)mutex;
    return 0;
}

int *yarn_libunwind_host___errno_location(void)
{
    static int number;
    return &number;
}

int yarn_libunwind_host_getpagesize(void)
{
    return PAGE_SIZE;
}

long yarn_libunwind_host_sysconf(int name)
{
    (void)name; /* it asks for the page size only, to round the sizes of its pools */
    return PAGE_SIZE;
}

int yarn_libunwind_host_sigfillset(void *set)
{
    (void)set; /* for masks that --disable-block-signals leaves unused */
    return 0;
}

ssize_t yarn_libunwind_host_write(int fd, const void *data, size_t size)
{
    (void)fd;
    (void)data;
    return (ssize_t)size;
}

char *yarn_libunwind_host_strerror(int error)
{
    static char nothing[1];
    (void)error;
    return nothing;
}

_Noreturn void yarn_libunwind_host_abort(void)
{
    for (;;)
        (void)yarn_raw_call(SYS_exit, 1, 0, 0, 0, 0, 0);
}

void yarn_libunwind_host_no_local(void)
{
}

void yarn_libunwind_host_no_probe(void)
{
}

unsigned long yarn_libunwind_host_no_list(void)
{
    return 0;
}
