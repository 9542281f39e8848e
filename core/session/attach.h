/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * AttachmentStrategy: how event specs become something that fills rings.
 *
 *   per_core  for each present cpu, thread and spec one inherited event, redirected into the ring
 *             of the cpu's leader. The kernel does the rest.
 *   per_thread  for each thread and spec one event of its own, and a ring of the thread. Threads
 *             are reported by the events of those that make them, and found in the list.
 *   mapped    where there are too few descriptors for that: for each present cpu and thread one
 *             inherited event, which is mapped itself and lives by the mapping: its descriptor is
 *             closed. The reader looks by time, and counts nothing.
 *   timer     where perf is refused: for each thread a timer of its CPU time, whose signal's
 *             handler writes the sample into a ring of the thread.
 *
 * Private to core/session.
 */
#pragma once

#include <stdatomic.h>

#include "core/session/state.h"

#define YARN_NOT_WATCHED SIZE_MAX /* too many: by time */

struct pollfd;

struct yarn_attachment {
    enum yarn_sampler sampler;
    enum yarn_strategy strategy;
    /* Fills the session. On failure what was opened stays for the close. */
    int (*open)(struct yarn_session *session);
    /* One more thread, enabled at once; NULL: none can be. */
    int (*attach)(struct yarn_session *session, pid_t tid);
    void (*enable)(struct yarn_session *session);
    void (*disable)(struct yarn_session *session);
    void (*pause)(struct yarn_session *session);         /* NULL where none is asked for */
    void (*check_signals)(struct yarn_session *session); /* NULL where no signal is sent */
    /* Deeper copies from now on, as soon as that can be. NULL: it cannot. */
    void (*deepen)(struct yarn_session *session);
    /* Counts a sample; what it weighs. NULL: what the kernel says. */
    uint64_t (*weigh)(struct yarn_session *session, const struct yarn_typed_record *record);
    /* After each drain but the last; or NULL. */
    void (*after_drain)(struct yarn_session *session);
    /* Before each pass over the rings: what is to be merged; or NULL. */
    void (*gather)(struct yarn_session *session, const struct yarn_record_listener *listener);
    /* Fills the descriptors to poll; their number, or YARN_NOT_WATCHED. NULL: never any. They may
     * change with session->watch_generation. */
    size_t (*watched)(const struct yarn_session *session, struct pollfd *fds, size_t size);
    /* A descriptor that hangs up (a pidfd: is readable) once the threads that it stands for have
     * ended, the one after `nr_gone` others; -1. */
    int (*sentinel)(struct yarn_session *session, size_t nr_gone);
    /* From now on each thread that uses CPU time wakes the word (NULL: none does any more); false
     * where one would not. NULL: none can. */
    bool (*call_at_ticks)(struct yarn_session *session, _Atomic uint32_t *word);
    struct yarn_perf_count (*count)(const struct yarn_session *session, uint32_t number);
    /* As yarn_session_switching_ns; NULL: it is not known. */
    uint64_t (*switching_ns)(struct yarn_session *session, uint32_t number, uint64_t cpu_ns);
    /* As yarn_session_blocked_ns; NULL: no signal is sent. */
    uint64_t (*blocked_ns)(const struct yarn_session *session);
    /* CPU time of a thread that has ended, all of its life, as far as it is known; NULL: never. */
    uint64_t (*thread_cpu_ns)(const struct yarn_session *session, pid_t tid);
    size_t (*ring_bytes)(const struct yarn_session *session);
    void (*close)(struct yarn_session *session); /* idempotent */
};

/* After a scan of the list of threads: where some come and go, the next may be there soon. */
static inline void yarn_session_scan_soon(struct yarn_session *session, bool has_new)
{
    const uint64_t first_ns = 4 * YARN_NS_PER_MS, most_ns = 64 * YARN_NS_PER_MS;
    uint64_t later_ns = session->soon_ns >= most_ns ? 0 : session->soon_ns * 2;
    session->soon_ns = has_new ? first_ns : later_ns;
}

extern const struct yarn_attachment yarn_attach_per_core;
extern const struct yarn_attachment yarn_attach_per_thread;
extern const struct yarn_attachment yarn_attach_timer;
