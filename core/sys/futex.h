/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sleeping on a word of memory, private to the process. Threads, signals: safe anywhere.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

/* Sleeps while *word == value, at most `timeout_ns`. 0 where woken or the word differs already (a
 * spurious return is possible), -ETIMEDOUT, -EINTR. */
int yarn_futex_wait(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

/* As yarn_futex_wait for a word that the kernel wakes at a thread's end, which it does not treat
 * as private to the process. */
int yarn_futex_wait_shared(_Atomic uint32_t *word, uint32_t value, uint64_t timeout_ns);

void yarn_futex_wake(_Atomic uint32_t *word);
