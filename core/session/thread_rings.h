/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The threads that have a ring of their own, each in a slot, and the memory that they share. Knows
 * how one is attached and detached, and how all get smaller rings where the limit of locked memory
 * is too low for one more; does not know how threads are found (attach_per_thread).
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/mappings.h"
#include "core/session/state.h"

/* One thread's events, which its children do not inherit, and the ring that they fill. The first
 * event is mapped, the others are redirected into it. Beside it there may be a watch: a dummy event
 * whose small ring takes the records of new threads, names and mappings, and wakes its poller at
 * each, so that a new thread is known at once; without one the first event carries those records.
 * With `off-cpu` a second event there writes switch records while the reader rests
 * (switches.h).
 *
 * Knows the opening and the end of one thread's events; does not know which threads there are
 * (attach_per_thread). An event outlives its thread: what it counted and wrote can be read after.
 */

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

enum {
    YARN_THREAD_RINGS_MAX = 4096,
    YARN_THREAD_RINGS_WATCHED = 64,  /* more are found by time, and not polled */
    YARN_THREAD_RINGS_IDS = 1 << 20, /* of events, the most */
};

struct yarn_thread_rings {
    struct yarn_thread_ring *of_slot; /* room for YARN_THREAD_RINGS_MAX */
    size_t nr_slots;                  /* below which all in use lie */
    size_t nr_live;                   /* in use */
    size_t ring_bytes;                /* of those */
    struct yarn_table slot_of;        /* tid -> number of its slot */
    pid_t *tids;                      /* room for a list, of `nr_listed` */
    size_t nr_listed;
    struct yarn_merge_source *sources; /* what is to be drained */
    struct yarn_perf_count *before;    /* by spec: counts of threads that are gone */
    struct yarn_mappings mappings;
    uint32_t nr_scans;
    uint64_t next_scan_ns, soonest_scan_ns; /* without and with records that wait */
    size_t share_bytes; /* of one ring, where there is too little memory for all; 0 */
    bool is_waiting;    /* for detached threads whose rings are not empty yet */
    bool has_news;      /* in a watch, since the last scan */
    bool is_enabled;
    bool needs_look; /* at the mappings: there are threads that may have mapped code unseen */
    uint64_t switching_before_ns; /* of threads that are gone */
    uint64_t next_switching_ns;   /* when to read that of the others */
    uint64_t looked_cpu_ns;       /* what all had used at that reading, and at the last scan */
    uint64_t scanned_cpu_ns;
};

/* Opens a slot for the thread, disabled. -ESRCH: it has gone; -ENOMEM: there is no memory. */
YARN_MUST_CHECK int yarn_thread_rings_attach(struct yarn_session *session, pid_t tid,
                                             struct yarn_thread_ring **ret_slot);

/* Closes the slot; what it counted is kept. */
void yarn_thread_rings_close_slot(struct yarn_session *session, uint32_t number);

/* Detaches: the next scan finds the thread as a new one. */
void yarn_thread_rings_detach(struct yarn_session *session, struct yarn_thread_ring *slot);

/* Shares the memory among `nr_threads` rings: a thread with a larger one than its share is
 * detached, and found again as a new one, once its ring is drained. False where none has a larger
 * one; true as long as one is being detached. */
bool yarn_thread_rings_make_way(struct yarn_session *session, size_t nr_threads);

/* Once none is left: the memory. */
void yarn_thread_rings_free(struct yarn_session *session);
