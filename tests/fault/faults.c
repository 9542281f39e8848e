/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Stands between the preload and the kernel in the library of the fault tests: the linker leads
 * every raw system call and every allocation here (--wrap), and the one that the plan names fails.
 * Without a plan it passes everything on.
 *
 * Threads, signals: safe anywhere, as what it replaces.
 */
#include "tests/fault/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/base/arena.h"
#include "core/base/pages.h"
#include "core/base/pool.h"
#include "core/base/raw.h"
#include "core/base/table.h"

extern char **environ;

static struct fault_plan none;
static _Atomic(struct fault_plan *) plan_in_use;

long __real_yarn_raw_call(long number, long a, long b, long c, long d, long e, long f);
long __wrap_yarn_raw_call(long number, long a, long b, long c, long d, long e, long f);
void *__real_yarn_arena_alloc(struct yarn_arena *arena, size_t size, size_t align);
void *__wrap_yarn_arena_alloc(struct yarn_arena *arena, size_t size, size_t align);
char *__real_yarn_arena_text(struct yarn_arena *arena, const char *text, size_t size);
char *__wrap_yarn_arena_text(struct yarn_arena *arena, const char *text, size_t size);
void *__real_yarn_pool_add(struct yarn_pool *pool);
void *__wrap_yarn_pool_add(struct yarn_pool *pool);
int __real_yarn_table_put(struct yarn_table *table, uint64_t key, uint32_t value);
int __wrap_yarn_table_put(struct yarn_table *table, uint64_t key, uint32_t value);
void *__real_yarn_pages_map(size_t size);
void *__wrap_yarn_pages_map(size_t size);
void *__real_yarn_pages_map_shared(size_t size);
void *__wrap_yarn_pages_map_shared(size_t size);

static struct fault_plan *map_plan(void)
{
    static const char name[] = "FAULT_FILE=";
    for (char **entry = environ; entry && *entry; entry++) {
        if (strncmp(*entry, name, sizeof name - 1))
            continue;
        const char *path = *entry + sizeof name - 1;
        long fd = __real_yarn_raw_call(SYS_openat, AT_FDCWD, (long)path, O_RDWR, 0, 0, 0);
        if (yarn_raw_is_error(fd))
            return &none;
        long at = __real_yarn_raw_call(SYS_mmap, 0, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED,
                                       fd, 0);
        __real_yarn_raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
        return yarn_raw_is_error(at) ? &none : (struct fault_plan *)at;
    }
    return &none;
}

/* First asked for by the constructor, when there is one thread. */
static struct fault_plan *plan(void)
{
    struct fault_plan *known = atomic_load(&plan_in_use);
    if (!known) {
        known = map_plan();
        atomic_store(&plan_in_use, known);
    }
    return known;
}

/* These cannot fail in any kernel, or only for arguments that are wrong, so nobody could do
 * anything about it: a signal mask that cannot be given back stays with the host. A close may
 * report something, and has closed. */
static bool always_succeeds(long number)
{
    return number == SYS_getpid || number == SYS_gettid || number == SYS_exit ||
           number == SYS_exit_group || number == SYS_rt_sigprocmask || number == SYS_rt_sigaction ||
           number == SYS_close;
}

long __wrap_yarn_raw_call(long number, long a, long b, long c, long d, long e, long f)
{
    struct fault_plan *faults = plan();
    if (faults == &none || always_succeeds(number))
        return __real_yarn_raw_call(number, a, b, c, d, e, f);
    uint64_t at = atomic_fetch_add(&faults->nr_calls, 1) + 1;
    if (at < faults->call || at > faults->call_last || !faults->call)
        return __real_yarn_raw_call(number, a, b, c, d, e, f);
    atomic_fetch_add(&faults->nr_failed, 1);
    atomic_store(&faults->last_failed_call, (uint64_t)number);
    return -(long)faults->call_errno;
}

static bool allocation_fails(void)
{
    struct fault_plan *faults = plan();
    if (faults == &none)
        return false;
    uint64_t at = atomic_fetch_add(&faults->nr_allocs, 1) + 1;
    bool fails = faults->alloc && at >= faults->alloc && at <= faults->alloc_last;
    if (fails)
        atomic_fetch_add(&faults->nr_failed, 1);
    return fails;
}

void *__wrap_yarn_arena_alloc(struct yarn_arena *arena, size_t size, size_t align)
{
    return allocation_fails() ? NULL : __real_yarn_arena_alloc(arena, size, align);
}

char *__wrap_yarn_arena_text(struct yarn_arena *arena, const char *text, size_t size)
{
    return allocation_fails() ? NULL : __real_yarn_arena_text(arena, text, size);
}

void *__wrap_yarn_pool_add(struct yarn_pool *pool)
{
    return allocation_fails() ? NULL : __real_yarn_pool_add(pool);
}

int __wrap_yarn_table_put(struct yarn_table *table, uint64_t key, uint32_t value)
{
    return allocation_fails() ? -ENOMEM : __real_yarn_table_put(table, key, value);
}

void *__wrap_yarn_pages_map(size_t size)
{
    return allocation_fails() ? NULL : __real_yarn_pages_map(size);
}

void *__wrap_yarn_pages_map_shared(size_t size)
{
    return allocation_fails() ? NULL : __real_yarn_pages_map_shared(size);
}
