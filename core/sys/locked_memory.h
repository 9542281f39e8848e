/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How much memory the process may lock for perf's rings. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* How much more the limit leaves, beyond the budget that perf grants each user; UINT64_MAX where
 * there is no limit, or none for the calling thread's rights. */
uint64_t yarn_locked_memory_left(void);
