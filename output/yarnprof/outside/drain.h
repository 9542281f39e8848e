/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that empties the rings of a session into larger ones of our own, each few ms, and does
 * nothing else: while stacks are unwound and functions named, the kernel's rings would run over.
 * What is copied is read by the session's drains; where our ring is full, too, the kernel counts
 * what it loses.
 *
 * Threads: its own, and the one that opened the session.
 */
#pragma once

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/session/session.h"

struct yarn_drain_ring {
    struct perf_event_mmap_page *from; /* borrowed: the kernel's */
    struct yarn_span from_data;
    struct perf_event_mmap_page *page; /* owned: of our own */
    uint8_t *data;                     /* owned */
    uint64_t head;                     /* of it: where the next record goes */
    uint64_t begun;                    /* where that was when it began anew last */
    uint64_t copied_ns;                /* all of before that has been copied into it */
    struct yarn_ring ring;             /* over these, for the session's drains */
};

struct yarn_drain {
    struct yarn_session *session;  /* borrowed; NULL while closed */
    struct yarn_drain_ring *rings; /* owned */
    size_t nr_rings, ring_bytes;
    /* Of a sample's copy, and of the alternate's, of which the valid part is kept. */
    size_t stack_bytes, light_bytes;
    pthread_mutex_t copying;
    pthread_t thread;
    bool has_thread;
    int fd; /* owned: readable where something was copied; -1 */
    _Atomic bool is_over;
    _Atomic uint64_t nr_broken; /* times that a ring was not of records: the rest was left out */
    _Atomic uint64_t copied_ns; /* all that is older is in our rings */
};

/* Of an open session that nothing was drained of yet. */
YARN_MUST_CHECK int yarn_drain_open(struct yarn_drain *drain, struct yarn_session *session);

/* Sleeps until something was copied or one of the others is readable, at most that long. */
void yarn_drain_wait(const struct yarn_drain *drain, const struct pollfd *others, size_t nr_others,
                     uint64_t most_ns);

/* Copies what is there now, by the calling thread. */
void yarn_drain_copy(struct yarn_drain *drain);

/* All records that are older than what this returns can be drained, in order. */
static inline uint64_t yarn_drain_copied_ns(const struct yarn_drain *drain)
{
    return atomic_load(&drain->copied_ns);
}

/* Ends the thread. */
void yarn_drain_stop(struct yarn_drain *drain);

/* Afterwards: copies what is left, by the calling thread. False where all was. */
bool yarn_drain_copy_rest(struct yarn_drain *drain);

/* Idempotent. The session's rings are the kernel's again. */
void yarn_drain_close(struct yarn_drain *drain);
