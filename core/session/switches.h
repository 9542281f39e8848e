/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rate of switch records: all events of the session that write them are turned
 * off while there are too many, and on again once there are few; not where the scheduler's
 * tracepoints are recorded too. A tree's are given up for good, with the clock beside them: its
 * alternate takes their place.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* A switch record was read: counts it. After each drain: cuts them out where there are too many,
 * and turns them on again once there are few. */
void yarn_switches_observe(struct yarn_session *session, const struct yarn_typed_record *record);
void yarn_switches_after_drain(struct yarn_session *session);

/* After events were enabled: those of switches are off while they are cut out. */
void yarn_switches_follow(const struct yarn_session *session);

/* Records that those events have lost, and those of threads that are gone. */
uint64_t yarn_switches_lost(const struct yarn_session *session);

/* Wake switches: the first switch of any of the host's threads wakes a reader that rests. For
 * `off-cpu`, whose short waits would otherwise pass unseen where none of the kernel's ticks meets
 * the work between them. Each core has one more ring, of a page, that wakes its poller at each
 * record, and each thread one more inherited event of switch records, which is on only during the
 * rest; a thread with a ring of its own has that event in its watch. */

/* For the threads that have switch records now. Where it cannot be had there is none. */
void yarn_wake_switches_open(struct yarn_session *session);

/* From now on, until it is turned off. False where there is none, or a record has come meanwhile:
 * then it is off. */
bool yarn_wake_switches_await(struct yarn_session *session);
void yarn_wake_switches_turn(struct yarn_session *session, bool is_on);

/* Idempotent. */
void yarn_wake_switches_close(struct yarn_session *session);
