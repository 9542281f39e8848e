/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The signal that the timer sampler sends to the host's threads, by raw call: 32, which the C
 * library keeps for itself (SIGCANCEL). It sends it to itself for timers, too, and distinguishes
 * those from cancellations by their si_code, as we do. Through the C library it can neither
 * be handled, blocked nor waited for: no host notices it, and none of the host's calls has to be
 * changed for it.
 *
 * The handler runs on host threads with every signal blocked, and interrupted calls start again.
 * Where the C library has a handler of its own, it gets what is not ours. Ours stays until the
 * process ends or execs: it does nothing where no timer sent the signal.
 * Threads, signals: safe anywhere, but for take, which one thread calls.
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { YARN_SIGNAL_TICK = 32 };

typedef void (*yarn_signal_fn)(int number, siginfo_t *info, void *context);

/* The address of what handles the signal; 0: nothing, 1: it is ignored. */
uintptr_t yarn_signal_handler(void);

/* Puts `own` in the place of `there`, the default or the C library's handler. `on_alternate`: it
 * runs on the alternate stack of a thread that has one. -EBUSY where something else is there. */
YARN_MUST_CHECK int yarn_signal_take(yarn_signal_fn own, uintptr_t there, bool on_alternate);

bool yarn_signal_is_taken(yarn_signal_fn own, bool on_alternate);

/* In a child after fork, which inherited the handler: puts back what was there before. */
void yarn_signal_leave_behind(void);

/* By the handler, for a signal that no timer of ours sent: what would have happened without us. */
void yarn_signal_pass_on(siginfo_t *info, void *context);

/* Ends the process by the signal, as by its default disposition. */
void yarn_signal_die_of(int number);

/* The calling thread blocks these (number n is bit n - 1), and no others; those that it did. */
uint64_t yarn_signal_set_mask(uint64_t mask);

/* The most that the kernel puts on a stack before a handler runs, in bytes; without the registers
 * of Intel's AMX, which only a thread that requested them has. */
size_t yarn_signal_frame_bytes(void);

/* A handler of the host's uses its thread's alternate stack (SA_ONSTACK), so those stacks have room
 * for a handler: some threads may have none elsewhere. */
bool yarn_signal_host_wants_alternate(void);

/* Whether a signal of ours may come to a thread that is in a handler of the host's on an alternate
 * stack: the kernel ends a process that has no room left there. Only a thread itself can query
 * its alternate stack, so each is noted when it is set, or, where a raw call has set it, by the
 * thread's next tick, whose signal frame has it. */

/* An alternate stack of that size is about to be set in this process. True for the first one that
 * is too small for a signal frame of the host's, its handler, and a signal frame of ours. */
bool yarn_alternate_stack_note(size_t bytes);

/* Whether one was noted that is too small. */
bool yarn_alternate_stack_is_small(void);

/* Where a handler returns to: rt_sigreturn(2). Never called. */
void yarn_signal_return(void);
