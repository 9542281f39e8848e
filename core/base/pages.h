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

/* Address space without memory behind it: pages appear when they are touched, and count in the
 * total only as far as yarn_pages_count says. Unmapped by yarn_pages_release. */
void *yarn_pages_reserve(size_t size);
void yarn_pages_release(void *pages, size_t size);
void yarn_pages_count(size_t more_bytes);
void yarn_pages_uncount(size_t fewer_bytes);

/* Bytes of memory that this process holds through these functions at this moment. */
size_t yarn_pages_total(void);
