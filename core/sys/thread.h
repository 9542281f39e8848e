/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that the C library does not know: made by clone with exactly the flags that the C
 * library uses for its own (valgrind ends a program that uses another set), on our own stack, with
 * a TLS block of our own, every signal blocked from before its start. The host's
 * __libc_single_threaded stays as it is, and the host's last pthread_exit still ends the process.
 *
 * In return its code may call nothing of libc that locks, allocates or needs thread state.
 * errno lands in the block's zeroed room. The layout of the block's head is glibc's.
 */
#pragma once

#include <sched.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "core/base/base.h"

struct yarn_thread {
    void *memory;         /* owned; NULL while closed */
    _Atomic uint32_t tid; /* 0 before its start and after its end, when the kernel clears it */
    _Atomic uint32_t is_woken_uncounted;
    uint64_t pending; /* by the thread: pending at its last check */
};

/* The function of a thread; its result becomes the thread's exit code, which is the process's
 * status where it is the last thread (Linux 5.18 and later; before, the leader's code counts). */
typedef int (*yarn_thread_fn)(void *argument);

/* The flags of the clone call. */
static inline int yarn_thread_flags(bool is_apart)
{
    const int shared = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |
                       CLONE_SETTLS | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
    return is_apart ? shared : shared | CLONE_FILES;
}

/* `thread` must not move while the thread lives: the kernel writes into it. `is_apart`: cloned with
 * a copy of the descriptor table, for where unshare is refused; those are not the flags of the C
 * library, so not under valgrind. */
YARN_MUST_CHECK int yarn_thread_start(struct yarn_thread *thread, yarn_thread_fn run,
                                      void *argument, bool is_apart);

/* The same in a child after fork, for its one thread of ours: in memory that is part of the
 * library, so that nothing is mapped for a short-lived child. */
YARN_MUST_CHECK int yarn_thread_start_in_child(struct yarn_thread *thread, yarn_thread_fn run,
                                               void *argument, bool is_apart);

/* By such a thread that lives on: counts its memory. Nothing to do for others. */
void yarn_thread_count_memory(const struct yarn_thread *thread);

static inline bool yarn_thread_is_running(const struct yarn_thread *thread)
{
    return atomic_load(&thread->tid) != 0;
}

/* Waits for its end. -ETIMEDOUT where it still runs after `timeout_ns`. */
YARN_MUST_CHECK int yarn_thread_join(struct yarn_thread *thread, uint64_t timeout_ns);

/* Gives the memory back; only after a join. Idempotent. */
void yarn_thread_fini(struct yarn_thread *thread);

/* Interrupts a poll in the thread, which waits for it by the descriptor of yarn_thread_open_wake:
 * a descriptor of one table cannot be written from another, a thread-directed signal that the
 * thread has blocked and reads through a signalfd can. The signal is the C library's internal one,
 * which no host can catch or wait for; where the user's limit of pending signals is reached, one
 * that the limit does not hold for. It is never delivered. */
YARN_MUST_CHECK int yarn_thread_wake(struct yarn_thread *thread, pid_t pid);

/* By the thread itself: a descriptor that polls readable after yarn_thread_wake. */
YARN_MUST_CHECK int yarn_thread_open_wake(void);
/* By the thread itself: a timer of the process's CPU time (timer.h) that wakes it likewise. */
YARN_MUST_CHECK int yarn_thread_open_alarm(int *ret_timer);
/* Takes all wake-ups back, and none of the host's signals; `fd` where that has polled readable,
 * else -1. True where the host sent the C library's signal, to each of its tasks, as libpsx does,
 * which waits until each has handled it or is gone. */
bool yarn_thread_clear_wakes(struct yarn_thread *thread, int fd);

/* Another signal is pending that was sent to the calling thread alone, which blocks all. */
bool yarn_thread_is_asked(struct yarn_thread *thread);
