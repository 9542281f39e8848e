/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether a signal of ours may come to a thread that is in a handler of the host's on an alternate
 * stack: the kernel ends a process that has no room left there. Only a thread itself can query
 * its alternate stack, so each is noted when it is set, or, where a raw call has set it, by the
 * thread's next tick, whose signal frame has it.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* An alternate stack of that size is about to be set in this process. True for the first one that
 * is too small for a signal frame of the host's, its handler, and a signal frame of ours. */
bool yarn_alternate_stack_note(size_t bytes);

/* Whether one was noted that is too small. */
bool yarn_alternate_stack_is_small(void);
