/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rings of their own for events whose PMU does not know CLOCK_MONOTONIC: the kernel does not let
 * events of different clocks share one. One a core beside the core's other ring, for all events of
 * that kind; their records have the core's own time, and get CLOCK_MONOTONIC when they are read, by
 * an offset that is measured at the opening and, core by core, while the recording goes on.
 *
 * Private to core/session, of the strategy per-core. Threads: the reader thread only. Signals: not
 * safe.
 */
#pragma once

#include "core/session/state.h"

/* Some event needs them, by what was found out of the events. */
bool yarn_core_clocks_are_needed(const struct yarn_session *session);

/* One beside each of the cores' rings, where they are needed. Where that cannot be done those
 * events are refused: a failure is that none is left. */
YARN_MUST_CHECK int yarn_core_clocks_open(struct yarn_session *session);

/* Whose ring that event's records go to, on that core. */
const struct yarn_event *yarn_core_clocks_leader(const struct yarn_session *session,
                                                 const struct yarn_session_core *core,
                                                 const struct yarn_event *event);

/* One that has changed since it was returned here; NULL: none. */
const struct yarn_core_clock *yarn_core_clocks_changed(struct yarn_session *session);

/* Measures one core again, now and then. */
void yarn_core_clocks_attend(struct yarn_session *session);

size_t yarn_core_clocks_bytes(const struct yarn_session *session);

/* Idempotent; after the events in their rings. */
void yarn_core_clocks_close(struct yarn_session *session);
