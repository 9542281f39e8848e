/* SPDX-License-Identifier: Apache-2.0 */
#include "core/sys/thread.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include "core/base/pages.h"
#include "core/base/raw.h"
#include "core/sys/clock.h"
#include "core/sys/futex.h"
#include "core/sys/thread_arch.h"

enum {
    STACK_BYTES = 256 * 1024,
    GUARD_BYTES = 4096,
    WAKE_SIGNAL = 33, /* SIGSETXID of the C library: sigaction and sigprocmask refuse it */
};

static uint64_t set_signal_mask(uint64_t mask)
{
    uint64_t before = 0;
    yarn_raw_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before, sizeof mask, 0, 0);
    return before;
}

int yarn_thread_start(struct yarn_thread *thread, yarn_thread_fn run, void *argument, bool is_apart)
{
    size_t memory_bytes = GUARD_BYTES + STACK_BYTES + yarn_thread_tls_bytes();
    uint8_t *memory = yarn_pages_map(memory_bytes);
    if (!memory)
        return -ENOMEM;
    yarn_raw_call(SYS_mprotect, (long)memory, GUARD_BYTES, PROT_NONE, 0, 0, 0);
    uint8_t *stack_top = memory + GUARD_BYTES + STACK_BYTES;

    *thread = (struct yarn_thread){.memory = memory, .memory_bytes = memory_bytes};
    uint64_t before = set_signal_mask(~UINT64_C(0));
    long tid = yarn_thread_clone(yarn_thread_flags(is_apart), stack_top, &thread->tid,
                                 yarn_thread_tls_init(stack_top), run, argument);
    set_signal_mask(before);
    if (yarn_raw_is_error(tid)) {
        atomic_store(&thread->tid, 0);
        yarn_thread_fini(thread);
        return (int)tid;
    }
    return 0;
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
    yarn_pages_unmap(thread->memory, thread->memory_bytes);
    thread->memory = NULL;
}

int yarn_thread_wake(const struct yarn_thread *thread, pid_t pid)
{
    long tid = (long)atomic_load(&thread->tid);
    if (!tid)
        return -ESRCH;
    return (int)yarn_raw_call(SYS_tgkill, pid, tid, WAKE_SIGNAL, 0, 0, 0);
}

int yarn_thread_open_wake(void)
{
    uint64_t mask = UINT64_C(1) << (WAKE_SIGNAL - 1);
    return (int)yarn_raw_call(SYS_signalfd4, -1, (long)&mask, sizeof mask,
                              SFD_CLOEXEC | SFD_NONBLOCK, 0, 0);
}

void yarn_thread_clear_wake(int fd)
{
    struct signalfd_siginfo info;
    yarn_raw_call(SYS_read, fd, (long)&info, sizeof info, 0, 0, 0);
}
