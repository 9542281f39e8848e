/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The end of a thread, noticed at once by another that sleeps: by the word that the kernel clears
 * and wakes when the thread ends (set_tid_address(2)), or by a pidfd of it; the first thread's is
 * silent while another lives.
 *
 * The word of another thread is only given to the kernel, never read: its memory may be gone with
 * the thread. Threads, signals: safe anywhere.
 */
#pragma once

#include <stdatomic.h>
#include <sys/types.h>

#include "core/base/base.h"

struct yarn_thread_end {
    _Atomic uint32_t *word; /* borrowed from the thread; NULL: unknown */
    uint32_t value;         /* while it lives */
};

/* Of the calling thread. */
struct yarn_thread_end yarn_thread_end_of_caller(void);

/* Sleeps while the thread lives and *own == 0, which another thread changes and wakes, at most so
 * long. -ENOSYS: the kernel cannot wait for two words. */
int yarn_thread_end_wait(const struct yarn_thread_end *end, _Atomic uint32_t *own,
                         uint64_t timeout_ns);

/* Once it is past, those of the host that wait for it are woken, too: the kernel wakes one. */
bool yarn_thread_end_is_past(const struct yarn_thread_end *end);

/* A descriptor that polls readable once the thread has ended, of another thread than the first; a
 * negative errno (before Linux 6.9: -EINVAL). */
YARN_MUST_CHECK int yarn_thread_end_open(pid_t tid);
