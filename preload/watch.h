/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * When to look at a sample that has just been taken, while its stack is still as it was: only for a
 * while after a stack that was cut off, because looking at each costs as much as waking for it.
 * Knows times; does not know what is looked for.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_watch {
    uint64_t period_ns; /* between two samples of a thread */
    uint64_t latest_ns; /* time of the latest sample */
    uint64_t until_ns;
};

struct yarn_watch yarn_watch_of(uint64_t rate_hz);

/* A sample; `is_cut`: one whose outer frames are unknown. */
void yarn_watch_note(struct yarn_watch *watch, uint64_t time_ns, bool is_cut);

static inline bool yarn_watch_is_on(const struct yarn_watch *watch)
{
    return watch->latest_ns < watch->until_ns;
}

/* How long to wait for the next sample to be there; UINT64_MAX where none is waited for. */
uint64_t yarn_watch_wait_ns(const struct yarn_watch *watch, uint64_t now_ns);
