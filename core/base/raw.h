/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A system call without the C library: the only way in which code that is loaded into a host asks
 * the kernel for anything. It cannot be interposed, is no cancellation point, takes no lock and
 * leaves errno alone, so it is safe in any thread, in signal handlers and in a vfork child.
 * The whole of yarn's guest side goes through it, so a test can make the n-th call fail.
 *
 * Knows the calling convention of the machine; does not know any system call (core/sys does).
 */
#pragma once

/* Returns what the kernel returned: a negative errno in [-4095, -1] on failure. */
long yarn_raw_call(long number, long a, long b, long c, long d, long e, long f);

static inline int yarn_raw_is_error(long result)
{
    return result < 0 && result >= -4095;
}
