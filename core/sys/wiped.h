/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The part of the library's data that the kernel zeroes in children (MADV_WIPEONFORK): whose memory
 * it is (owner.h) and what the thread of a child after fork runs in (thread.h). Why both in one: a
 * child writes the word and the head of the thread's block, which is one page. Why common: the
 * linker puts that last, and the segment becomes two mappings, not three. Private to core/sys.
 */
#pragma once

#include <stdatomic.h>

#include "core/sys/thread_arch.h"

enum {
    YARN_THREAD_STACK_BYTES = 256 * 1024,
    YARN_THREAD_GUARD_BYTES = 4096,
};

struct yarn_wiped {
    /* Why without a guard: every byte of the segment may be read by a collector or leak checker of
     * the host; the lowest page is left to an overflow. */
    _Alignas(YARN_THREAD_GUARD_BYTES) uint8_t overflow[YARN_THREAD_GUARD_BYTES];
    /* Address space only, until a thread runs here. */
    uint8_t stack[YARN_THREAD_STACK_BYTES];
    uint8_t tls[YARN_THREAD_TLS_BYTES - 64];
    _Alignas(64) _Atomic uint32_t owner; /* a process number; 0: nobody's */
};

extern struct yarn_wiped yarn_wiped;
