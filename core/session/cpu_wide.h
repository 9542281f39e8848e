/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Clocks of whole cores instead of clocks that threads inherit, where threads come and go faster
 * than inherited clocks can see: each of those begins a full period at a thread's birth, so a
 * shorter life is never sampled, and it costs every birth, end and switch. A core's clock does
 * neither; it also hits other processes, which are dropped, so it is for high churn only, and where
 * the kernel permits it (CAP_PERFMON, or perf_event_paranoid 0).
 *
 * A process changes over once, and never has both: the inherited clocks are read and closed first.
 * A core's clock is dead after the core was offline; it is looked for and opened anew.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"

/* Looks at the births of late, and at the cores' clocks. While the events are enabled. */
void yarn_cpu_wide_attend(struct yarn_session *session);

/* Of the process's CPU time, which is what the clocks sample. */
void yarn_cpu_wide_resume(struct yarn_session *session);
void yarn_cpu_wide_pause(struct yarn_session *session);

/* Adds the process's time since the change, where it stands for event `number`. */
void yarn_cpu_wide_count(const struct yarn_session *session, uint32_t number,
                         struct yarn_perf_count *sum);

/* Idempotent; before the cores' rings are closed. */
void yarn_cpu_wide_close(struct yarn_session *session);
