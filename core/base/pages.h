/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Anonymous private memory from the kernel, in whole pages, and a running total of it, which is
 * the `memory_bytes` of the trust report. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* Zeroed. `size` is rounded up to whole pages. NULL where the kernel refuses. */
void *yarn_pages_map(size_t size);

/* Takes the size that was asked for. NULL is allowed. */
void yarn_pages_unmap(void *pages, size_t size);

/* Bytes mapped at this moment by this process through yarn_pages_map. */
size_t yarn_pages_total(void);
