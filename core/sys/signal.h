/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A real-time signal of the host borrowed for a while, by raw call: found among those that nobody
 * uses, handled by us, given back as it was. Knows dispositions; does not know who sends it.
 *
 * The handler runs on host threads with every signal blocked, on the alternate stack where the
 * thread has one, and interrupted calls start again.
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "core/base/base.h"

typedef void (*yarn_signal_fn)(int number, siginfo_t *info, void *context);

/* What the calling thread blocks, a mask: signal n is bit n - 1. */
uint64_t yarn_signal_blocked(void);

/* The number of a real-time signal with the default disposition (or already `own`'s) that is not in
 * `blocked`, a mask; -EBUSY where there is none. */
YARN_MUST_CHECK int yarn_signal_find(yarn_signal_fn own, uint64_t blocked);

YARN_MUST_CHECK int yarn_signal_take(int number, yarn_signal_fn own);

/* False where the host has put something of its own in its place. */
bool yarn_signal_is_taken(int number, yarn_signal_fn own);

/* The number that is taken at this moment; 0: none. */
int yarn_signal_borrowed(void);

/* The host has put something of its own in its place: nothing is to be given back. */
void yarn_signal_lose(void);

/* In a child after fork, which inherited the disposition: gives it back. */
void yarn_signal_leave_behind(void);

/* Back to the default, after those that are still pending anywhere in the process were discarded:
 * one of them would end it. */
void yarn_signal_give_back(int number);

/* Ends the process by the signal, as by its default disposition. */
void yarn_signal_die_of(int number);

/* By the handler, for a signal that somebody else sent: what would have happened without us. */
void yarn_signal_act_default(int number);
