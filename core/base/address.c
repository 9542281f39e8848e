/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/address.h"

#include <stdatomic.h>

#include "core/base/in_data.h"

enum { PAGE = 4096 };

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
