/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Finds out whether an event's PMU knows no clock but the core's own (core_clocks).
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* The kernel refuses the event with CLOCK_MONOTONIC, by itself, and takes it without. */
bool yarn_probe_clock_lacks_other(const struct perf_event_attr *attr, uint32_t number, pid_t tid,
                                  int cpu);

/* Notes that for all of the event's group, which have one clock. -ERESTART: they are to be opened
 * so; -ETIME: here that cannot be. */
YARN_MUST_CHECK int yarn_probe_clock_take(struct yarn_session *session, uint32_t number);
