/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the calling process, read through the kernel: where nothing is mapped it is an
 * error and no signal. Threads, signals: safe anywhere.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"

/* All of it or -EFAULT. /proc/self/mem serves where process_vm_readv
 * is not permitted, as under some containers' system call filters. */
YARN_MUST_CHECK int yarn_own_memory_read(uint64_t address, void *ret_data, size_t size);

/* As far as it can be read, into two pieces of memory one after the other, by one call; the bytes
 * that were, or a negative errno. `pid` is the caller's. Async-signal-safe. */
YARN_MUST_CHECK ssize_t yarn_own_memory_copy(pid_t pid, uint64_t address, void *ret_first,
                                             size_t first_bytes, void *ret_second,
                                             size_t second_bytes);
