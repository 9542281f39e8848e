/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The memory of the calling process, read through the kernel: where nothing is mapped it is an
 * error and no signal. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* All of it or -EFAULT. `proc_self` (an open /proc/self; -1: none) serves where process_vm_readv
 * is not permitted, as under some containers' system call filters. */
YARN_MUST_CHECK int yarn_own_memory_read(int proc_self, uint64_t address, void *ret_data,
                                         size_t size);
