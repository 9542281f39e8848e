/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The event of switch records: on each thread and core one more inherited event, a dummy that
 * writes a record when the thread comes onto the core and when it leaves it. Of its own, so that it
 * can be turned off without the clock. It is the first thing that is given up: what refuses it
 * refuses nothing else.
 *
 * Knows one such event; does not know how many records they write (switches).
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
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

/* Gives them up; `reason` is a static sentence. */
void yarn_switches_give_up(struct yarn_session *session, const char *reason);

/* The number of such an event among the session's. */
static inline bool yarn_switches_is_of(const struct yarn_session *session,
                                       const struct yarn_event *event)
{
    return event->spec == session->spec->nr_events;
}
