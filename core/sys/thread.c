/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/thread.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>

#include "core/base/pages.h"
#include "core/base/raw.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/process.h"
#include "core/sys/signal.h"
#include "core/sys/thread_arch.h"
#include "core/sys/timer.h"
#include "core/sys/wiped.h"

enum {
    STACK_BYTES = YARN_THREAD_STACK_BYTES,
    GUARD_BYTES = YARN_THREAD_GUARD_BYTES,
    MEMORY_BYTES = STACK_BYTES + YARN_THREAD_TLS_BYTES,
    WAKE_SIGNAL = 33, /* SIGSETXID of the C library: sigaction and sigprocmask refuse it */
    /* For where no real-time signal can be queued (RLIMIT_SIGPENDING). */
    UNCOUNTED_SIGNAL = SIGSTKFLT,
};

static bool is_in_room(const struct yarn_thread *thread)
{
    return thread->memory == yarn_wiped.stack;
}

static int start_in(uint8_t *memory, struct yarn_thread *thread, yarn_thread_fn run, void *argument,
                    bool is_apart)
{
    uint8_t *stack_top = memory + STACK_BYTES;
    *thread = (struct yarn_thread){.memory = memory};
    uint64_t before = yarn_signal_set_mask(~UINT64_C(0));
    long tid = yarn_thread_clone(yarn_thread_flags(is_apart), stack_top, &thread->tid,
                                 yarn_thread_tls_init(stack_top), run, argument);
    yarn_signal_set_mask(before);
    if (!yarn_raw_is_error(tid))
        return 0;
    *thread = (struct yarn_thread){.memory = NULL};
    return (int)tid;
}

int yarn_thread_start(struct yarn_thread *thread, yarn_thread_fn run, void *argument, bool is_apart)
{
    uint8_t *memory = yarn_pages_map(GUARD_BYTES + MEMORY_BYTES);
    if (!memory)
        return -ENOMEM;
    /* A hole is a guard that a fork does not copy. */
    yarn_pages_unmap(memory, GUARD_BYTES);
    memory += GUARD_BYTES;
    int err = start_in(memory, thread, run, argument, is_apart);
    if (err)
        yarn_pages_unmap(memory, MEMORY_BYTES);
    return err;
}

int yarn_thread_start_in_child(struct yarn_thread *thread, yarn_thread_fn run, void *argument,
                               bool is_apart)
{
    return start_in(yarn_wiped.stack, thread, run, argument, is_apart);
}

void yarn_thread_count_memory(const struct yarn_thread *thread)
{
    if (is_in_room(thread))
        yarn_pages_count(MEMORY_BYTES);
}

int yarn_thread_join(struct yarn_thread *thread, uint64_t timeout_ns)
{
    uint64_t begin_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
    uint64_t end_ns = begin_ns + yarn_u64_min(timeout_ns, UINT64_MAX - begin_ns);
    for (;;) {
        uint32_t tid = atomic_load(&thread->tid);
        if (!tid)
            return 0;
        uint64_t now_ns = yarn_clock_ns(YARN_TIME_MONOTONIC);
        if (now_ns >= end_ns)
            return -ETIMEDOUT;
        yarn_futex_wait_shared(&thread->tid, tid, end_ns - now_ns);
    }
}

void yarn_thread_fini(struct yarn_thread *thread)
{
    if (is_in_room(thread))
        yarn_pages_uncount(MEMORY_BYTES);
    else
        yarn_pages_unmap(thread->memory, MEMORY_BYTES);
    thread->memory = NULL;
}

int yarn_thread_wake(struct yarn_thread *thread, pid_t pid)
{
    long tid = (long)atomic_load(&thread->tid);
    if (!tid)
        return -ESRCH;
    /* Why not tgkill: that is what others send (yarn_thread_clear_wakes). */
    static const siginfo_t info = {.si_signo = WAKE_SIGNAL, .si_code = SI_QUEUE};
    int err = (int)yarn_raw_call(SYS_rt_tgsigqueueinfo, pid, tid, WAKE_SIGNAL, (long)&info, 0, 0);
    if (err != -EAGAIN)
        return err;
    atomic_store(&thread->is_woken_uncounted, 1);
    return (int)yarn_raw_call(SYS_tgkill, pid, tid, UNCOUNTED_SIGNAL, 0, 0, 0);
}

static uint64_t mask_of(int number)
{
    return UINT64_C(1) << (number - 1);
}

static bool take(int number, siginfo_t *ret_info)
{
    const struct timespec none = {0};
    uint64_t mask = mask_of(number);
    return yarn_raw_call(SYS_rt_sigtimedwait, (long)&mask, (long)ret_info, (long)&none, sizeof mask,
                         0, 0) == number;
}

static int watch(int fd, uint64_t mask)
{
    return (int)yarn_raw_call(SYS_signalfd4, fd, (long)&mask, sizeof mask,
                              SFD_CLOEXEC | SFD_NONBLOCK, 0, 0);
}

int yarn_thread_open_wake(void)
{
    return watch(-1, mask_of(WAKE_SIGNAL) | mask_of(UNCOUNTED_SIGNAL));
}

int yarn_thread_open_alarm(int *ret_timer)
{
    return yarn_timer_open_of_process(yarn_process_tid(), WAKE_SIGNAL, ret_timer);
}

bool yarn_thread_clear_wakes(struct yarn_thread *thread, int fd)
{
    siginfo_t info;
    bool is_asked = false, is_own = false;
    while (take(WAKE_SIGNAL, &info)) {
        is_own = true;
        is_asked |= info.si_code == SI_TKILL;
    }
    if (atomic_exchange(&thread->is_woken_uncounted, 0))
        is_own |= take(UNCOUNTED_SIGNAL, &info);
    if (fd >= 0 && !is_own && watch(fd, mask_of(WAKE_SIGNAL)))
        return is_asked; /* the host's own keeps it readable until the host takes it */
    return is_asked;
}

bool yarn_thread_is_asked(struct yarn_thread *thread)
{
    const uint64_t own = mask_of(WAKE_SIGNAL) | mask_of(UNCOUNTED_SIGNAL);
    uint64_t pending = 0;
    /* That includes signals to the process, hence the second check, which costs more. */
    yarn_raw_call(SYS_rt_sigpending, (long)&pending, sizeof pending, 0, 0, 0, 0);
    pending &= ~own;
    uint64_t again = pending & thread->pending;
    pid_t tid = yarn_process_tid();
    thread->pending = pending;
    if (!pending)
        return false;
    /* Without /proc it seems to block nothing: then what is pending since the last check. */
    return (yarn_process_blocked_signals(tid) ? yarn_process_pending_signals(tid) & ~own : again);
}
