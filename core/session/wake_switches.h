/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Wake switches: the first switch of any of the host's threads wakes a reader that rests. For
 * `off-cpu`, whose short waits would otherwise pass unseen where none of the kernel's ticks meets
 * the work between them. Each core has one more ring, of a page, that wakes its poller at each
 * record, and each thread one more inherited event of switch records, which is on only during the
 * rest; a thread with a ring of its own has that event in its watch.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* For the threads that have switch records now. Where it cannot be had there is none. */
void yarn_wake_switches_open(struct yarn_session *session);

/* From now on, until it is turned off. False where there is none, or a record has come meanwhile:
 * then it is off. */
bool yarn_wake_switches_await(struct yarn_session *session);
void yarn_wake_switches_turn(struct yarn_session *session, bool is_on);

/* Idempotent. */
void yarn_wake_switches_close(struct yarn_session *session);
