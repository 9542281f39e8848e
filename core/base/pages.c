/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/pages.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "core/base/raw.h"

/* The stock holds what a recording on few cores maps; it grows by steps, the first of which is what
 * each recording takes: of others each is four calls more, some 7 us. */
enum {
    PAGE = 4096,
    STOCK_BYTES = 24 * 1024 * 1024,
    STOCK_FIRST = 1280 * 1024,
    STOCK_STEP = 256 * 1024,
    TOUCHED_MOST = 3,
};

static YARN_IN_DATA atomic_size_t total;
static YARN_IN_DATA atomic_size_t taken;
static YARN_IN_DATA atomic_size_t most; /* 0: as much as the kernel gives */
static YARN_IN_DATA atomic_bool is_hiding;
static YARN_IN_DATA uint8_t *_Atomic stock; /* NULL: everything is mapped by itself */
static YARN_IN_DATA atomic_size_t stock_used, stock_backed;
static YARN_IN_DATA atomic_flag is_stock_busy = ATOMIC_FLAG_INIT;

static YARN_IN_DATA const struct yarn_pages_keeper *_Atomic keeper;

static YARN_IN_DATA atomic_size_t given;

/* Libraries lie at the top of where the kernel maps, programs and their heap at two thirds of the
 * address space or at its very bottom. Eleven sixteenths of the way up to us is between them: some
 * 40 TiB below the first, where the kernel comes only after having given out all of that, and 1 TiB
 * above the second. It is as random as our own address. Sanitizers that have laid claim to all
 * addresses have these, too: the kernel then chooses. Valgrind puts all below 64 GiB. */
static bool is_low(uintptr_t own)
{
    return own < UINT64_C(1) << 40;
}

static uintptr_t lowest(uintptr_t own)
{
    uintptr_t address = is_low(own) ? own + (UINT64_C(4) << 30) : own / 16 * 11;
    return address & ~(uintptr_t)(PAGE - 1);
}

static size_t width(uintptr_t own)
{
    return is_low(own) ? UINT64_C(32) << 30 : own / 64 & ~(uintptr_t)(PAGE - 1);
}

uintptr_t yarn_address_next(size_t size)
{
    uintptr_t own = (uintptr_t)&given;
    size_t at = atomic_fetch_add_explicit(&given, yarn_align_up(size, PAGE), memory_order_relaxed);
    return lowest(own) + at % width(own);
}

void yarn_pages_cap(size_t most_bytes)
{
    atomic_store_explicit(&most, most_bytes, memory_order_relaxed);
}

bool yarn_pages_take(size_t size)
{
    size_t cap = atomic_load_explicit(&most, memory_order_relaxed);
    size = yarn_align_up(size, PAGE);
    size_t before = atomic_fetch_add_explicit(&taken, size, memory_order_relaxed);
    if (!cap || (before < cap && size <= cap - before))
        return true;
    yarn_pages_give(size);
    return false;
}

void yarn_pages_give(size_t size)
{
    atomic_fetch_sub_explicit(&taken, yarn_align_up(size, PAGE), memory_order_relaxed);
}

static void *map(uintptr_t at, size_t size, int flags)
{
    if (!yarn_pages_take(size))
        return NULL;
    long result = yarn_raw_call(SYS_mmap, (long)at, (long)yarn_align_up(size, PAGE),
                                PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (yarn_raw_is_error(result)) {
        yarn_pages_give(size);
        return NULL;
    }
    /* After mlockall(MCL_FUTURE) by the host our pages would count in its limit of locked memory.
     */
    if (!atomic_load_explicit(&keeper, memory_order_relaxed))
        yarn_raw_call(SYS_munlock, result, (long)yarn_align_up(size, PAGE), 0, 0, 0, 0);
    return (void *)result;
}

static void advise(void *pages, size_t size, int advice)
{
    yarn_raw_call(SYS_madvise, (long)pages, (long)yarn_align_up(size, PAGE), advice, 0, 0, 0);
}

bool yarn_pages_map_at(void *pages, size_t size)
{
    /* A kernel that does not know the flag may choose another address. */
    void *got = map((uintptr_t)pages, size, MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED_NOREPLACE);
    if (got == pages)
        yarn_pages_hide_like_ours(pages, size);
    else
        yarn_pages_release(got, size);
    return got == pages;
}

static bool back_stock(uint8_t *base, size_t upto)
{
    size_t backed = atomic_load_explicit(&stock_backed, memory_order_relaxed);
    if (upto <= backed)
        return true;
    size_t end = yarn_size_max(yarn_align_up(upto, STOCK_STEP), STOCK_FIRST);
    end = yarn_size_min(end, STOCK_BYTES);
    if (!yarn_pages_map_at(base + backed, end - backed))
        return false;
    /* A page here and there is all that is touched. */
    advise(base + backed, end - backed, MADV_NOHUGEPAGE);
    atomic_store_explicit(&stock_backed, end, memory_order_relaxed);
    return true;
}

/* By one thread at a time; the others go without. */
static void *take_from_stock(size_t size)
{
    uint8_t *base = atomic_load_explicit(&stock, memory_order_relaxed), *taken_pages = NULL;
    size = yarn_align_up(size, PAGE);
    if (!base || size > STOCK_BYTES || atomic_flag_test_and_set(&is_stock_busy))
        return NULL;
    size_t at = atomic_load_explicit(&stock_used, memory_order_relaxed);
    if (at <= STOCK_BYTES - size && back_stock(base, at + size)) {
        atomic_store_explicit(&stock_used, at + size, memory_order_relaxed);
        taken_pages = base + at;
    }
    atomic_flag_clear(&is_stock_busy);
    return taken_pages;
}

void yarn_pages_use(const struct yarn_pages_keeper *used)
{
    atomic_store(&keeper, used);
}

bool yarn_pages_keep(void *pages, size_t size, size_t backed)
{
    const struct yarn_pages_keeper *used = atomic_load(&keeper);
    return used && used->keep(pages, size, backed);
}

void *yarn_pages_kept(size_t size, size_t *ret_backed)
{
    const struct yarn_pages_keeper *used = atomic_load(&keeper);
    return used ? used->take(size, ret_backed) : NULL;
}

void *yarn_pages_reserve(size_t size)
{
    size_t backed;
    void *pages = take_from_stock(size);
    if (!pages)
        pages = yarn_pages_kept(yarn_align_up(size, PAGE), &backed);
    if (pages)
        return pages;
    pages = map(yarn_address_next(size), size, MAP_PRIVATE | MAP_NORESERVE);
    if (pages)
        yarn_pages_hide_like_ours(pages, size);
    return pages;
}

void yarn_pages_hide_like_ours(void *pages, size_t size)
{
    if (atomic_load_explicit(&is_hiding, memory_order_relaxed))
        advise(pages, size, MADV_DONTFORK);
}

void *yarn_pages_map_shared(size_t size)
{
    return map(yarn_address_next(size), size, MAP_SHARED);
}

void yarn_pages_hide_from_children(void)
{
    atomic_store_explicit(&is_hiding, true, memory_order_relaxed);
    if (atomic_load_explicit(&most, memory_order_relaxed) ||
        atomic_load_explicit(&stock, memory_order_relaxed))
        return;
    uint8_t *base = (uint8_t *)yarn_address_next(STOCK_BYTES);
    atomic_store_explicit(&stock_used, 0, memory_order_relaxed);
    atomic_store_explicit(&stock_backed, 0, memory_order_relaxed);
    if (back_stock(base, 1))
        atomic_store_explicit(&stock, base, memory_order_relaxed);
}

void yarn_pages_show_to_children(void *pages, size_t size)
{
    advise(pages, size, MADV_DOFORK);
}

void yarn_pages_after_fork(void)
{
    atomic_store_explicit(&total, 0, memory_order_relaxed);
    atomic_store_explicit(&taken, 0, memory_order_relaxed);
    atomic_store_explicit(&stock, NULL, memory_order_relaxed);
    atomic_flag_clear(&is_stock_busy);
}

void yarn_pages_release(void *pages, size_t size)
{
    size_t whole = yarn_align_up(size, PAGE);
    if (!pages || yarn_pages_keep(pages, whole, whole))
        return;
    yarn_raw_call(SYS_munmap, (long)pages, (long)whole, 0, 0, 0, 0);
    yarn_pages_give(size);
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

/* By a write that changes nothing, so that each takes one fault: 1.2 us, the call takes 4 for one
 * page and 5 for four. */
static void touch(uint8_t *pages, size_t size)
{
    for (size_t at = 0; at < size; at += PAGE) {
        uint8_t none = 0;
        atomic_compare_exchange_strong((_Atomic uint8_t *)(pages + at), &none, 0);
    }
}

void yarn_pages_populate(void *pages, size_t size)
{
    const struct yarn_pages_keeper *used = atomic_load(&keeper);
    if (used && size <= used->largest) /* most of these have been there before */
        return;
    size_t before = (uintptr_t)pages % PAGE;
    uint8_t *first = (uint8_t *)pages - before;
    if (size + before > TOUCHED_MOST * PAGE)
        advise(first, size + before, MADV_POPULATE_WRITE);
    else
        touch(first, size + before);
}

void yarn_pages_empty(void *pages, size_t size)
{
    advise(pages, size, MADV_DONTNEED);
}

void yarn_pages_clear(void *memory, size_t size)
{
    uint8_t *bytes = memory;
    size_t first = yarn_size_min(size, -(uintptr_t)memory % PAGE);
    size_t whole = (size - first) / PAGE * PAGE;
    memset(bytes, 0, first);
    /* Not where the host has locked them. */
    if (whole && yarn_raw_is_error(yarn_raw_call(SYS_madvise, (long)(bytes + first), (long)whole,
                                                 MADV_DONTNEED, 0, 0, 0)))
        memset(bytes + first, 0, whole);
    memset(bytes + first + whole, 0, size - first - whole);
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
