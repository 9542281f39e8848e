/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/signal.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/context.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"

enum { RESTORER = 0x04000000, MASK_BYTES = 8, C_LIBRARYS_LAST = 33, LAST = 64 };

#define TAKING_NS (YARN_NS_PER_MS)

struct kernel_sigaction {
    yarn_signal_fn handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* Why not from 0: beside what else is not 0 a child reads it without a page fault. */
enum { FREE = 1, TAKING, TAKEN };

static _Atomic uint32_t state = FREE;
/* What was there before; written while the state is TAKING. */
static struct kernel_sigaction before;

enum {
    HOSTS_BYTES = 4096, /* what a handler of the host's may use, beside its frame */
    OURS_BYTES = 512,   /* what ours uses, beside its frame */
};

static _Atomic bool is_small;
static _Atomic size_t needed; /* 0: not asked yet, which a virtual machine makes slow */

static size_t needed_bytes(void)
{
    size_t bytes = atomic_load(&needed);
    if (!bytes) {
        bytes = 2 * yarn_signal_frame_bytes() + HOSTS_BYTES + OURS_BYTES;
        atomic_store(&needed, bytes);
    }
    return bytes;
}

bool yarn_alternate_stack_note(size_t bytes)
{
    return bytes < needed_bytes() && !atomic_exchange(&is_small, true);
}

bool yarn_alternate_stack_is_small(void)
{
    return atomic_load(&is_small);
}

static uint64_t bit_of(int number)
{
    return UINT64_C(1) << (number - 1);
}

uint64_t yarn_signal_set_mask(uint64_t mask)
{
    uint64_t replaced = 0;
    yarn_raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&replaced, MASK_BYTES, 0, 0);
    return replaced;
}

static int act(int number, const struct kernel_sigaction *action,
               struct kernel_sigaction *ret_action)
{
    return (int)yarn_raw_call(SYS_rt_sigaction, number, (long)action, (long)ret_action, MASK_BYTES,
                              0, 0);
}

static uintptr_t address_of(yarn_signal_fn handler)
{
    uintptr_t address;
    memcpy(&address, &handler, sizeof address);
    return address;
}

uintptr_t yarn_signal_handler(void)
{
    struct kernel_sigaction action = {.flags = 0};
    return act(YARN_SIGNAL_TICK, NULL, &action) ? 0 : address_of(action.handler);
}

bool yarn_signal_is_taken(yarn_signal_fn own, bool on_alternate)
{
    struct kernel_sigaction action = {.flags = 0};
    return !act(YARN_SIGNAL_TICK, NULL, &action) && action.handler == own &&
           !(action.flags & SA_ONSTACK) == !on_alternate;
}

int yarn_signal_take(yarn_signal_fn own, uintptr_t there, bool on_alternate)
{
    struct kernel_sigaction found = {.flags = 0};
    struct kernel_sigaction action = {
        .handler = own,
        .flags =
            SA_SIGINFO | SA_RESTART | RESTORER | (on_alternate ? (unsigned long)SA_ONSTACK : 0),
        .restorer = yarn_signal_return,
        .mask = ~UINT64_C(0),
    };
    atomic_store(&state, TAKING);
    int err = act(YARN_SIGNAL_TICK, &action, &found);
    bool is_ours = !err && found.handler == own;
    bool is_expected = address_of(found.handler) == there;
    if (!err && !is_ours)
        before = found; /* for a signal that comes before it is put back, too */
    if (!err && !is_ours && !is_expected)
        err = act(YARN_SIGNAL_TICK, &found, NULL) ? -EINVAL : -EBUSY;
    atomic_store(&state, err ? FREE : TAKEN);
    return err;
}

static void set_default(int number)
{
    struct kernel_sigaction action = {.flags = 0};
    if (act(number, &action, NULL))
        return; /* every number that comes here has a disposition */
}

void yarn_signal_leave_behind(void)
{
    /* Why it is read first: a page that is written in a child is copied for it. */
    if (atomic_load(&state) == FREE)
        return;
    if (atomic_exchange(&state, FREE) != FREE && act(YARN_SIGNAL_TICK, &before, NULL))
        return;
}

void yarn_signal_die_of(int number)
{
    uint64_t mask = bit_of(number);
    set_default(number);
    yarn_raw_call(SYS_tgkill, yarn_process_pid(), yarn_process_tid(), number, 0, 0, 0);
    yarn_raw_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof mask, 0, 0);
}

/* The C library's handler may never return, so the mask is what it would have been under it. */
static void block_as_before(const void *context)
{
    uint64_t mask = yarn_context_blocked(context) | before.mask;
    if (!(before.flags & SA_NODEFER))
        mask |= bit_of(YARN_SIGNAL_TICK);
    yarn_raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

void yarn_signal_pass_on(siginfo_t *info, void *context)
{
    while (atomic_load(&state) == TAKING) /* what was there is known in a moment */
        yarn_futex_wait(&state, TAKING, TAKING_NS);
    if (!before.handler) {
        set_default(YARN_SIGNAL_TICK);
        yarn_raw_call(SYS_tgkill, yarn_process_pid(), yarn_process_tid(), YARN_SIGNAL_TICK, 0, 0,
                      0);
        return;
    }
    block_as_before(context);
    before.handler(YARN_SIGNAL_TICK, info, context);
}

bool yarn_signal_host_wants_alternate(void)
{
    for (int number = 1; number <= LAST; number++) {
        struct kernel_sigaction action = {.flags = 0};
        bool is_hosts = number != YARN_SIGNAL_TICK && number != C_LIBRARYS_LAST;
        if (is_hosts && !act(number, NULL, &action) && action.flags & SA_ONSTACK &&
            address_of(action.handler) > 1)
            return true;
    }
    return false;
}
