/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Anonymous private memory from the kernel, in whole pages, and a running total of it, which is
 * the `memory_bytes` of the trust report. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* Zeroed. `size` is rounded up to whole pages. NULL on failure. */
void *yarn_pages_map(size_t size);

/* `size` as at the allocation. NULL is allowed. */
void yarn_pages_unmap(void *pages, size_t size);

/* Populates pages that are about to be written in places: at once instead of by a fault each, or by
 * two where the first access is a read. */
void yarn_pages_populate(void *pages, size_t size);
/* Zeroes memory that is private and no file's, whole pages of it by taking them away. */
void yarn_pages_clear(void *memory, size_t size);
/* The opposite: frees the memory of whole pages, which read as zeros from now on. */
void yarn_pages_empty(void *pages, size_t size);

/* The most address space that this process may hold through these functions from now on; those that
 * map anything else say so by take, false where it would be more, and give. */
void yarn_pages_cap(size_t most_bytes);
YARN_MUST_CHECK bool yarn_pages_take(size_t size);
void yarn_pages_give(size_t size);

/* Address space without memory behind it: pages appear when they are touched, and count in the
 * total only as far as yarn_pages_count says. Unmapped by yarn_pages_release. */
void *yarn_pages_reserve(size_t size);
/* The same at exactly this address. False where it is in use. */
YARN_MUST_CHECK bool yarn_pages_map_at(void *pages, size_t size);
void yarn_pages_release(void *pages, size_t size);
void yarn_pages_count(size_t more_bytes);
void yarn_pages_uncount(size_t fewer_bytes);

/* From now on, what these functions map is not there in a child after fork, so that the fork does
 * not have to copy its tables. Other children (clone without a new memory) share it as before.
 * Without a cap it comes from one mapping that is made here and grows, as long as that lasts: two
 * calls for each of fifty were 6 % of what /bin/true costs.
 */
void yarn_pages_hide_from_children(void);
/* The same for pages that were mapped in another way. */
void yarn_pages_hide_like_ours(void *pages, size_t size);
/* An exception, for pages that a child continues to use. */
void yarn_pages_show_to_children(void *pages, size_t size);
/* In such a child: none of the hidden pages count any more, nor are they taken from. */
void yarn_pages_after_fork(void);

/* What keeps released blocks for the next of their size (kept_pages.h): none in a host. */
struct yarn_pages_keeper {
    bool (*keep)(void *pages, size_t size, size_t backed);
    void *(*take)(size_t size, size_t *ret_backed);
    size_t largest; /* of a block that it keeps */
};
void yarn_pages_use(const struct yarn_pages_keeper *keeper);

/* Of a room, which is backed so far and kept under a size of its own. False where it is not kept;
 * what is kept is had again zeroed, NULL: none of that size is there. */
YARN_MUST_CHECK bool yarn_pages_keep(void *pages, size_t size, size_t backed);
void *yarn_pages_kept(size_t size, size_t *ret_backed);

/* Zeroed memory that a forked child shares with this process; NULL on failure. Unmapped by
 * yarn_pages_release; not in the total. */
void *yarn_pages_map_shared(size_t size);

/* Bytes of memory that this process holds through these functions at this moment. */
size_t yarn_pages_total(void);

/* Where in the host's address space our mappings lie: far from where the kernel puts those of the
 * host, so that no address of ours was ever the host's. A host may go on using an address that it
 * has unmapped, as long as nothing else maps there (it maps over it, protects it, unmaps it again);
 * were it ours meanwhile, that would hit our memory.
 *
 * Knows addresses only; maps nothing, reserves nothing. */

/* An address for mmap, as a hint (without MAP_FIXED): if it is in use after all, the kernel chooses
 * another. Each call returns other addresses, until all have been used once. */
uintptr_t yarn_address_next(size_t size);
