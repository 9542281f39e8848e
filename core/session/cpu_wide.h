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
 * A core's clock is dead after the core was offline; it is looked for and opened anew.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* In place of the inherited clocks, disabled; where that is refused they stay, and the error is in
 * session->wide. -ENOENT: there is not just one clock that is sampled by a period. */
void yarn_cpu_wide_open(struct yarn_session *session);

/* Looks at the cores' clocks, while the events are enabled. */
void yarn_cpu_wide_check(struct yarn_session *session);

void yarn_cpu_wide_turn(struct yarn_session *session, bool is_on);

/* The process's CPU time, which is what the clocks sample, where it stands for event `number`. */
void yarn_cpu_wide_count(const struct yarn_session *session, uint32_t number,
                         struct yarn_perf_count *sum);

/* Idempotent; before the cores' rings are closed. */
void yarn_cpu_wide_close(struct yarn_session *session);
