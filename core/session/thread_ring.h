/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread's events, which its children do not inherit, and the ring that they fill. The first
 * event is mapped, the others are redirected into it. Beside it there may be a watch: a dummy event
 * whose small ring takes the records of new threads, names and mappings, and wakes its poller at
 * each, so that a new thread is known at once; without one the first event carries those records.
 * With `off-cpu` a second event there writes switch records while the reader rests
 * (wake_switches.h).
 *
 * Knows the opening and the end of one thread's events; does not know which threads there are
 * (attach_per_thread). An event outlives its thread: what it counted and wrote can be read after.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

struct yarn_thread_watch {
    struct yarn_event event;
    struct yarn_event wake_switches; /* redirected into its ring; closed: none */
    struct yarn_ring ring;           /* its mapping is owned; closed: there is no watch */
};

struct yarn_thread_ring {
    pid_t tid;                 /* 0: free */
    struct yarn_event *events; /* room for one of each spec; borrowed from the session's arena */
    size_t nr_events;          /* open; the first is mapped */
    struct yarn_ring ring;     /* its mapping is owned */
    struct yarn_thread_watch watch;
    uint64_t before_ns;    /* CPU time of the thread while its events were off */
    uint64_t switching_ns; /* and while they were on and did not run, at the last reading */
    struct yarn_period_jitter jitter; /* periods of its clocks */
    uint32_t seen;                    /* number of the scan that found it last */
    bool is_gone;
};

/* Opens everything for `tid`, disabled: `slot` is free and has its room. The ring has the size of
 * `plan`, or a smaller one where the limit of locked memory says so. -ESRCH: the thread has gone;
 * -ENOMEM: there is no memory for the smallest ring. */
YARN_MUST_CHECK int yarn_thread_ring_open(struct yarn_thread_ring *slot,
                                          struct yarn_session *session, pid_t tid,
                                          struct yarn_plan plan, bool has_watch);

void yarn_thread_ring_turn(const struct yarn_thread_ring *slot, bool is_on);

/* Adds what the thread's event of spec `number`, or that of switches, counted. */
void yarn_thread_ring_count(const struct yarn_thread_ring *slot, uint32_t number,
                            struct yarn_perf_count *sum);

/* Looks into both rings: true where all was drained. */
static inline bool yarn_thread_ring_is_drained(struct yarn_thread_ring *slot)
{
    return yarn_ring_is_empty(&slot->ring) && yarn_ring_is_empty(&slot->watch.ring);
}

size_t yarn_thread_ring_bytes(const struct yarn_thread_ring *slot);

/* Idempotent; the slot is free again and keeps its room. */
void yarn_thread_ring_close(struct yarn_thread_ring *slot);
