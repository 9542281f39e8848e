/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The C library's syscall as the preload interposes it: one file a machine (syscall_x86_64.c) sends
 * the calls that may set a system call filter, change a namespace or give up rights to `look`, and
 * jumps to the original with all others, of which some look at the stack or return twice.
 *
 * Threads, signals: safe anywhere, before our constructor and in a vfork child too.
 */
#pragma once

#include "preload/calls/originals.h"

/* The original; NULL before the constructor, where every call goes to `look`. */
extern yarn_original_fn yarn_syscall_next;

/* Does the call, and what has to be done around it. Returns what syscall returns, with errno. */
__attribute__((visibility("hidden"))) long yarn_syscall_look(long number, long a, long b, long c,
                                                             long d, long e, long f);
