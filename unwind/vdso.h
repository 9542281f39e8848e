/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The vDSO of a process: its bytes, which no file has. Every process of the machine has the same
 * one, so that another's is read from the calling process: the other may be gone, or not ours to
 * read. Only one of another machine's bits has another size.
 *
 * Threads: any. Signals: safe.
 */
#pragma once

#include "core/sys/target.h"

/* Its mapping is [start, start + size). -ESRCH: the calling process has none of that size. */
YARN_MUST_CHECK int yarn_vdso_read(const struct yarn_target *target, uint64_t start,
                                   void *ret_bytes, size_t size);
