/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A timer of one thread's CPU time that sends that thread a signal, by raw call: it counts only
 * while the thread runs, so it never interrupts a sleep. It fires at most once a tick of the
 * kernel; what it misses the signal reports as overrun. Or of the process's, for one thread that
 * waits until the others work.
 *
 * Any thread of the process may make one for any other; a forked child has none.
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"

enum { YARN_TIMER_NONE = -1 };

/* `value` comes with the signal. -EINVAL: the thread has gone. -EAGAIN: the limit of queued signals
 * (RLIMIT_SIGPENDING). */
YARN_MUST_CHECK int yarn_timer_open(pid_t tid, int signal_number, void *value, int *ret_timer);

/* The same of the CPU time of all threads; `tid` gets the signal whoever runs. */
YARN_MUST_CHECK int yarn_timer_open_of_process(pid_t tid, int signal_number, int *ret_timer);

struct yarn_timer_rate {
    uint64_t first_ns;    /* of that CPU time; 0 stops the timer */
    uint64_t interval_ns; /* from then on */
    bool is_from_birth;   /* first_ns counts from the thread's start, else from now */
};

/* A first_ns that has passed fires at once, also into a thread that waits, whose call it would
 * interrupt. */
YARN_MUST_CHECK int yarn_timer_set(int timer, const struct yarn_timer_rate *rate);

/* CPU time of a thread since its start. -EINVAL: it has gone. */
YARN_MUST_CHECK int yarn_timer_thread_cpu_ns(pid_t tid, uint64_t *ret_ns);

/* The same of all threads of a process. */
YARN_MUST_CHECK int yarn_timer_process_cpu_ns(pid_t pid, uint64_t *ret_ns);

/* Of the calling thread, by the clock's common name, which filters of system calls know; unlike
 * yarn_clock_ns it distinguishes a refusal from no time. */
YARN_MUST_CHECK int yarn_timer_own_cpu_ns(uint64_t *ret_ns);

/* YARN_TIMER_NONE is allowed. */
void yarn_timer_close(int timer);

/* Length of the kernel's tick; 4 ms where it cannot be found out. */
uint64_t yarn_timer_tick_ns(void);
