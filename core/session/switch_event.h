/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Switch records: on each thread and core one more inherited event, a dummy that writes a record
 * when the thread comes onto the core and when it leaves it. Of its own, so that it can be turned
 * off without the clock. It is the first thing that is given up: what refuses it refuses nothing
 * else.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

enum { YARN_SWITCHES_NUMBER = 0x7fffffff }; /* of such an event: it has no samples */

static inline bool yarn_switches_is_of(const struct yarn_event *event)
{
    return event->number == YARN_SWITCHES_NUMBER;
}

/* True where they are wanted and not given up. */
static inline bool yarn_switches_are_recorded(const struct yarn_session *session)
{
    return session->request->records_switches && !session->switches.reason;
}

/* Opens the event of a thread on a core, disabled, which writes into the ring of `leader`. -ESRCH:
 * the thread has gone; -EMFILE and -ENFILE: there are no descriptors; all else gives them up
 * (switches.reason). On failure it is closed. */
YARN_MUST_CHECK static inline int yarn_switches_open(const struct yarn_session *session, pid_t tid,
                                                     int cpu, const struct yarn_event *leader,
                                                     struct yarn_event *ret_event)
{
    struct yarn_attr_options options = {
        .features = session->report.features,
        .is_single = session->threads != NULL,
        .starts_at_exec = session->request->starts_at_exec,
    };
    struct perf_event_attr attr = yarn_attr_of_switches(&options);
    int err = yarn_event_open(ret_event, &attr, YARN_SWITCHES_NUMBER, tid, cpu);
    if (err)
        return err;
    err = yarn_event_redirect(ret_event, leader);
    if (err)
        yarn_event_close(ret_event);
    return err;
}
