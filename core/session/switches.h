/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Switch records: on each thread and core one more inherited event, a dummy that writes a record
 * when the thread comes onto the core and when it leaves it. Of its own, so that it can be turned
 * off without the clock. It is the first thing that is given up: what refuses it refuses nothing
 * else.
 *
 * Private to core/session, but for the functions that session.h names. Threads: the reader thread
 * only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* True where they are wanted and not given up. */
static inline bool yarn_switches_are_recorded(const struct yarn_session *session)
{
    return session->spec->records_switches && !session->switches.reason;
}

/* Opens the event of a thread on a core, disabled. -ESRCH: the thread has gone; -EMFILE and
 * -ENFILE: there are no descriptors; all else gives them up. */
YARN_MUST_CHECK int yarn_switches_open(struct yarn_session *session, pid_t tid, int cpu,
                                       struct yarn_event *ret_event);

/* A switch record was read: counts it. After each drain: cuts them out where there are too many,
 * and turns them on again once there are few. */
void yarn_switches_observe(struct yarn_session *session, const struct yarn_typed_record *record);
void yarn_switches_attend(struct yarn_session *session);

/* After events were enabled: those of switches are off while they are cut out. */
void yarn_switches_follow(const struct yarn_session *session);

struct yarn_thread_ring;

/* That a thread's own event lost. */
uint64_t yarn_switches_lost_of(const struct yarn_session *session,
                               const struct yarn_thread_ring *slot);

/* Gives them up; `reason` is a static sentence. */
void yarn_switches_give_up(struct yarn_session *session, const char *reason);

/* The number of such an event among the session's. */
static inline bool yarn_switches_is_of(const struct yarn_session *session,
                                       const struct yarn_event *event)
{
    return event->spec == session->spec->nr_events;
}
