/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/signal.h"

#include <stdatomic.h>
#include <sys/syscall.h>

#include "core/base/raw.h"
#include "core/sys/process.h"
#include "core/sys/signal_arch.h"

/* Why not the outermost ones: they are what others take first (valgrind the last, libraries that
 * count from SIGRTMIN the first ones). 32 and 33 are the C library's own. */
enum { FIRST = 34, LAST = 62, RESTORER = 0x04000000, MASK_BYTES = 8 };

struct kernel_sigaction {
    yarn_signal_fn handler;
    unsigned long flags;
    void (*restorer)(void);
    uint64_t mask;
};

/* One at a time: dispositions are the process's. */
static _Atomic int borrowed;

static int query(int number, struct kernel_sigaction *ret_action)
{
    long result = yarn_raw_call(SYS_rt_sigaction, number, 0, (long)ret_action, MASK_BYTES, 0, 0);
    return (int)result;
}

static int change(int number, const struct kernel_sigaction *action)
{
    long result = yarn_raw_call(SYS_rt_sigaction, number, (long)action, 0, MASK_BYTES, 0, 0);
    return (int)result;
}

uint64_t yarn_signal_blocked(void)
{
    uint64_t mask = 0;
    yarn_raw_call(SYS_rt_sigprocmask, SIG_SETMASK, 0, (long)&mask, sizeof mask, 0, 0);
    return mask;
}

int yarn_signal_find(yarn_signal_fn own, uint64_t blocked)
{
    for (int number = LAST; number >= FIRST; number--) {
        struct kernel_sigaction action;
        if (blocked >> (number - 1) & 1 || query(number, &action))
            continue;
        if (action.handler == NULL || action.handler == own)
            return number;
    }
    return -EBUSY;
}

int yarn_signal_take(int number, yarn_signal_fn own)
{
    struct kernel_sigaction action = {
        .handler = own,
        .flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK | RESTORER,
        .restorer = yarn_signal_return,
        .mask = ~UINT64_C(0),
    };
    int err = change(number, &action);
    if (!err)
        atomic_store(&borrowed, number);
    return err;
}

int yarn_signal_borrowed(void)
{
    return atomic_load_explicit(&borrowed, memory_order_relaxed);
}

void yarn_signal_lose(void)
{
    atomic_store(&borrowed, 0);
}

void yarn_signal_leave_behind(void)
{
    if (yarn_signal_borrowed())
        yarn_signal_give_back(yarn_signal_borrowed());
}

bool yarn_signal_is_taken(int number, yarn_signal_fn own)
{
    struct kernel_sigaction action;
    return !query(number, &action) && action.handler == own;
}

static void set_plain(int number, uintptr_t disposition)
{
    struct kernel_sigaction action = {.mask = 0};
    memcpy(&action.handler, &disposition, sizeof action.handler);
    if (change(number, &action))
        return; /* a number that was taken can be given back */
}

void yarn_signal_give_back(int number)
{
    set_plain(number, 1); /* ignored: the kernel discards what is pending (POSIX demands it) */
    set_plain(number, 0);
    atomic_store(&borrowed, 0);
}

void yarn_signal_die_of(int number)
{
    uint64_t mask = UINT64_C(1) << (number - 1);
    yarn_signal_act_default(number);
    yarn_raw_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof mask, 0, 0);
}

void yarn_signal_act_default(int number)
{
    set_plain(number, 0);
    yarn_raw_call(SYS_tgkill, yarn_process_pid(), yarn_process_tid(), number, 0, 0, 0);
}
