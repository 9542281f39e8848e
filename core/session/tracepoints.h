/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tracepoints, probes among them: how the raw bytes of their samples are to be read, as tracefs
 * says it, and one disabled event of each, open as long as the session. Why: whenever the last
 * event of a tracepoint is closed the kernel waits for 40 ms, of a probe for 90; without these that
 * would be at each probing of an event. At the end it is, unless another process has it open.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* Where the event is one: its `format`, and the one that holds it. */
void yarn_tracepoint_open(struct yarn_session *session, struct yarn_event_status *state);
