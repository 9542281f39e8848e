/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How often stacks are cut off that nothing known joins, and what follows: for a while after such a
 * stack each sample is to be looked at that has just been taken, while its stack is still as it was
 * (only for a while, because looking at each costs as much as waking for it, and only as often as
 * it brings something); and where they are many, deeper copies are wanted. Knows times; does not
 * know what is looked for.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_watch {
    uint64_t period_ns; /* between two samples of a thread */
    uint64_t latest_ns; /* time of the latest sample */
    uint64_t until_ns;  /* of the while */
    uint32_t share;     /* of the late samples that were such, as a fraction of 2^32 */
    uint32_t nr_wakes;  /* that it may still cost */
};

struct yarn_watch yarn_watch_of(uint64_t rate_hz);

/* A sample is there. False where it is no newer than others were. */
bool yarn_watch_see(struct yarn_watch *watch, uint64_t time_ns);

/* A sample whose outer frames neither its copy holds nor others taught. */
void yarn_watch_alert(struct yarn_watch *watch, uint64_t time_ns);

/* Each sample, once; is_unknown: it was such a one. */
void yarn_watch_note(struct yarn_watch *watch, uint64_t time_ns, bool is_unknown);

/* The reader woke for a sample. */
void yarn_watch_pay(struct yarn_watch *watch);

/* What was seen has made a stack whole. */
void yarn_watch_reward(struct yarn_watch *watch);

static inline bool yarn_watch_is_on(const struct yarn_watch *watch)
{
    return watch->latest_ns < watch->until_ns && watch->nr_wakes;
}

/* More of the samples of late were such than may be. */
bool yarn_watch_has_many(const struct yarn_watch *watch);

/* How long to wait for the next sample to be there; UINT64_MAX where none is waited for. */
uint64_t yarn_watch_wait_ns(const struct yarn_watch *watch, uint64_t now_ns);
