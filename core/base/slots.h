/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The states of a few slots that any thread takes and fills and one empties. A slot belongs to who
 * has taken it until it is ready: a thread that is never resumed costs a slot and nothing else.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

enum yarn_slot_state { YARN_SLOT_FREE, YARN_SLOT_BUSY, YARN_SLOT_READY };

/* Takes a free one; `count`: there is none. */
static inline size_t yarn_slots_take(_Atomic uint32_t *states, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t free = YARN_SLOT_FREE;
        if (atomic_compare_exchange_strong(&states[i], &free, YARN_SLOT_BUSY))
            return i;
    }
    return count;
}

/* Frees all, where nobody else is. Does not write what is right already: each page that a child
 * after fork writes is copied for it. */
static inline void yarn_slots_clear(_Atomic uint32_t *states, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (atomic_load(&states[i]) != YARN_SLOT_FREE)
            atomic_store(&states[i], YARN_SLOT_FREE);
}
