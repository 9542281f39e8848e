/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/libunwind_host.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/base/pages.h"
#include "core/base/raw.h"

enum { HEAD_SIZE = 16, PAGE_SIZE = 4096, POOL_PAGES = 8 };

/* For its pools, whose heads are static: a child after fork goes on with both. */
static _Alignas(PAGE_SIZE) uint8_t pool_room[POOL_PAGES * PAGE_SIZE];
static size_t pool_used;

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

/* Memory that is mapped between the two calls below, and forgotten by libunwind. */
static struct {
    void *at[4];
    size_t size[4], count;
    bool is_on;
} noted;

static void note(void *at, size_t size)
{
    if (!noted.is_on || noted.count == YARN_COUNT_OF(noted.at))
        return;
    noted.at[noted.count] = at;
    noted.size[noted.count++] = size;
}

void yarn_libunwind_host_note(void)
{
    noted.count = 0;
    noted.is_on = true;
}

void yarn_libunwind_host_unmap_noted(void)
{
    noted.is_on = false;
    while (noted.count--)
        yarn_pages_unmap(noted.at[noted.count], noted.size[noted.count]);
    noted.count = 0;
}

void *yarn_libunwind_host_mmap(void *at, size_t size, int protection, int flags, int fd,
                               off_t offset)
{
    (void)at;
    (void)protection;
    (void)flags;
    (void)offset;
    if (fd != -1)
        return MAP_FAILED;
    size = yarn_align_up(size, PAGE_SIZE);
    if (size <= sizeof pool_room - pool_used) {
        pool_used += size;
        yarn_pages_count(size);
        return pool_room + pool_used - size;
    }
    void *pages = yarn_pages_map(size);
    if (!pages)
        return MAP_FAILED;
    yarn_pages_show_to_children(pages, size);
    note(pages, size);
    return pages;
}

static bool is_in_pool_room(const void *at)
{
    return (uintptr_t)at - (uintptr_t)pool_room < sizeof pool_room;
}

int yarn_libunwind_host_munmap(void *at, size_t size)
{
    if (!is_in_pool_room(at)) /* which is not given out twice */
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
