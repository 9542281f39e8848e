/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Clocks of whole cores instead of clocks that threads inherit: those begin a full period at a
 * thread's start, so a shorter thread is never sampled, and cost each start, end and switch. A
 * core's clock does neither, but it also hits other processes: their samples are dropped, yet they
 * lie in the rings, which the host's code could read. So only on request (the strategy `cores`),
 * where the kernel permits it (CAP_PERFMON, or perf_event_paranoid 0), and never beyond a change of
 * the host's rights, root or namespaces: the recording ends before it.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* Whether the event is to be one clock a core; where that is refused threads inherit it, and the
 * error is in session->wide. -ENOENT: there is not just one clock that is sampled by a period. */
void yarn_cpu_wide_choose(struct yarn_session *session);
