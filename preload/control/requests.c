/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/requests.h"

#include "core/sys/futex.h"

struct yarn_request yarn_requests_put(struct yarn_requests *requests, uint32_t bits,
                                      uint32_t instead)
{
    uint32_t before = atomic_load(&requests->wanted);
    while (!atomic_compare_exchange_weak(&requests->wanted, &before, (before & ~instead) | bits))
        ;
    return (struct yarn_request){.bits = bits, .begun_before = atomic_load(&requests->begun)};
}

bool yarn_requests_has_done(struct yarn_requests *requests, const struct yarn_request *request)
{
    uint32_t done = atomic_load(&requests->done);
    /* A round that began after the request has taken it. */
    if ((int32_t)(done - request->begun_before) > 0)
        return true;
    /* Or one that was just beginning: none is under way, and the bits are gone. */
    return !(atomic_load(&requests->wanted) & request->bits) &&
           atomic_load(&requests->begun) == atomic_load(&requests->done);
}

uint32_t yarn_requests_take(struct yarn_requests *requests)
{
    if (!atomic_load(&requests->wanted))
        return 0;
    /* Before the bits: who sees them gone sees the round. */
    atomic_fetch_add(&requests->begun, 1);
    return atomic_exchange(&requests->wanted, 0);
}

void yarn_requests_finish(struct yarn_requests *requests)
{
    atomic_store(&requests->done, atomic_load(&requests->begun));
    yarn_futex_wake(&requests->done);
}

void yarn_requests_after_fork(struct yarn_requests *requests)
{
    atomic_store(&requests->wanted, 0);
    atomic_store(&requests->begun, 0);
    atomic_store(&requests->done, 0);
}
