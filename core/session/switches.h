/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rate of switch records: all events of the session that write them (switch_event.h) are turned
 * off while there are too many, and on again once there are few; not where the scheduler's
 * tracepoints are recorded too.
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
