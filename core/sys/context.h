/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The context of a thread that a signal interrupted: its registers, in perf's numbering.
 * Implemented by context_x86_64.c. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* `context` is a handler's third argument; `number` is perf's (asm/perf_regs.h), one of those that
 * yarn_attr_unwind_registers names. 0 for any other. */
uint64_t yarn_context_register(const void *context, unsigned number);

uint64_t yarn_context_ip(const void *context);
uint64_t yarn_context_sp(const void *context);

/* The signals that it blocked, a mask: signal n is bit n - 1. */
uint64_t yarn_context_blocked(const void *context);

/* Size of its alternate stack; 0: it has none. */
size_t yarn_context_alternate_bytes(const void *context);

/* It was on its way back from a system call. */
bool yarn_context_is_after_call(const void *context);

/* From rt_sigprocmask(2): a signal that comes there was waiting to be let in. */
bool yarn_context_is_after_unblocking(const void *context);

/* Where another signal had just interrupted it, at the first instruction of whose handler it is:
 * what that signal interrupted. Otherwise the same. */
const void *yarn_context_interrupted(const void *context);
