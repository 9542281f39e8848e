/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The machine's part of a thread: the clone call and the head of the thread control block.
 * Implemented by thread_x86_64.c. Private to core/sys.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

/* Room for the block: static TLS of the libraries, errno among it, lies below the thread pointer,
 * the C library's thread descriptor above. */
enum {
    YARN_THREAD_BELOW_BYTES = 64 * 1024,
    YARN_THREAD_ABOVE_BYTES = 4096,
    YARN_THREAD_TLS_BYTES = YARN_THREAD_BELOW_BYTES + YARN_THREAD_ABOVE_BYTES,
};

/* Fills the head of the block that begins at `memory` with the caller's guards; the thread pointer.
 */
void *yarn_thread_tls_init(uint8_t *memory);

/* Never returns in the child: it calls run(argument), then exits as a thread. The tid or a negative
 * errno in the caller; the kernel sets and clears *tid. */
long yarn_thread_clone(int flags, void *stack_top, _Atomic uint32_t *tid, void *thread_pointer,
                       int (*run)(void *argument), void *argument);
