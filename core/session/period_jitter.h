/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Periods that are varied from time to time by up to a tenth, so that no program is in phase with a
 * clock for long. Knows the former and present part by which those of some events are multiplied;
 * the kernel's sample does not state it (it has the period of the opening).
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/alternate_of.h"

/* Another part for those of the events that are of that side, if they had enough samples: what is
 * left of the period is dropped at each change. `is_over`: the whole period again, for good. */
void yarn_period_jitter_change(struct yarn_period_jitter *jitter, struct yarn_session *session,
                               enum yarn_side side, const struct yarn_event *events,
                               size_t nr_events, bool is_over);

/* Counts a sample of these events; what it weighs. */
uint64_t yarn_period_jitter_weigh(struct yarn_period_jitter *jitter,
                                  const struct yarn_session *session,
                                  const struct yarn_typed_record *record);
