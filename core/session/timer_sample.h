/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample of the timer sampler, taken by a signal handler on the sampled thread and written into
 * that thread's slot as the kernel would have written it: everything behind the ring is the same.
 *
 * The handler needs less than a page of stack beside the kernel's signal frame, calls nothing of
 * the C library, leaves errno alone (raw calls have none), touches no thread-local storage and
 * takes no lock. The stack is copied by a system call that ends where nothing is mapped instead of
 * faulting; without that call it goes to the end of the page that holds the stack pointer.
 *
 * Knows the layout of records; does not know when timers fire or which threads there are.
 */
#pragma once

#include "core/session/stack_bounds.h"
#include "core/session/timer_slot.h"
#include "core/sys/signal.h"

/* The same for all slots of a process. Immutable while writes are enabled, but for the counts. */
struct yarn_timer_terms {
    pid_t pid;
    uint64_t id;             /* of the event, in its records */
    uint64_t period_ns;      /* of the timer; a sample weighs as many as have passed */
    uint64_t periods_max;    /* that pass between two ticks outside of system calls */
    uint64_t registers_mask; /* 0: neither registers nor stack */
    size_t stack_bytes;      /* of copy at most; a multiple of 8 */
    bool can_copy;           /* by yarn_target_copy_own */
    const struct yarn_stack_bounds *bounds;
    _Atomic(_Atomic uint32_t *) called; /* woken at each tick: the reader sleeps on it; NULL */
    _Atomic uint32_t nr_unbounded;      /* stack pointers of which the bounds knew nothing */
    _Atomic uint32_t nr_let_in;         /* ticks that had waited while the thread blocked them */
    _Atomic uint64_t nr_withheld;       /* periods for which such ticks stood */
};

/* The slots, which are never freed: a signal on its way may name one at any time. */
enum { YARN_TIMER_SLOTS_MAX = 1024 };
extern struct yarn_timer_slot yarn_timer_slots[YARN_TIMER_SLOTS_MAX];

/* The handler. Its signal's value is the slot; a signal that says anything else is not ours, and
 * has the effect that it would have had without us. */
void yarn_timer_sample_on_signal(int number, siginfo_t *info, void *context);

/* Bytes of a record without its stack copy. */
size_t yarn_timer_sample_fixed_bytes(const struct yarn_timer_terms *terms);
