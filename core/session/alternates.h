/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The alternate of an event: the same one with another period and deeper copies, inherited from the
 * start and disabled, with a number of its own. Knows which events have one, where it writes, and
 * whose turn it is: one side is enabled and the other disabled, all threads follow within a moment,
 * and their contexts stay clones of each other. Two clocks in turns show a function's share
 * although the program is in phase with one of them, and that it is.
 *
 * Where the host has one thread alone the period is varied, too, which the kernel does for the
 * thread that the event was opened on and for none that inherited it (KF 23). A period that the
 * user asked for is never varied. Once many stacks were cut, the side with the deeper copies keeps
 * the turn, and beside other threads only pauses at times, to go on at another phase.
 *
 * Private to core/session, of the strategy per-core. Threads: the reader thread only. Signals: not
 * safe.
 */
#pragma once

#include "core/session/state.h"

/* Which events get one, after they were probed: numbers behind those of the request. */
void yarn_alternates_choose(struct yarn_session *session);

/* Of a tree whose first event writes switch records: its alternate has none, and shallower copies.
 */
void yarn_alternates_choose_light(struct yarn_session *session);

/* The alternate counts from now on; and the rest of that change, at the next drain. */
void yarn_alternates_lighten(struct yarn_session *session);
void yarn_alternates_confirm(struct yarn_session *session);

/* Rings have become larger: alternates write into these and have the turn, the others rest and
 * write nowhere; and some 10 ms later write into these, too. */
YARN_MUST_CHECK int yarn_alternates_begin(struct yarn_session *session);
YARN_MUST_CHECK int yarn_alternates_attach_resting(struct yarn_session *session);

/* Whether it is not the event's turn. */
bool yarn_alternates_rests(const struct yarn_session *session, uint32_t number);

/* Takes the next turn, where one is due. */
void yarn_alternates_after_drain(struct yarn_session *session);

/* The deeper copies from now on, as soon as that can be. */
void yarn_alternates_deepen(struct yarn_session *session);

/* Whether the record was written while both sides were enabled, by the one that had no turn then;
 * or is a shallow sample of a pause. */
bool yarn_alternates_exclude(const struct yarn_session *session,
                             const struct yarn_typed_record *record);

/* Counts a sample; what it weighs. */
uint64_t yarn_alternates_weigh(struct yarn_session *session,
                               const struct yarn_typed_record *record);

/* Periods that are varied from time to time by up to a tenth, so that no program is in phase with a
 * clock for long. Knows the former and present part by which those of some events are multiplied;
 * the kernel's sample does not state it (it has the period of the opening). */

/* Another part for those of the events that are of that side, if they had enough samples: what is
 * left of the period is dropped at each change. `is_over`: the whole period again, for good. */
void yarn_period_jitter_change(struct yarn_period_jitter *jitter, struct yarn_session *session,
                               enum yarn_side side, const struct yarn_event *events,
                               size_t nr_events, bool is_over);

/* Counts a sample of these events; what it weighs. */
uint64_t yarn_period_jitter_weigh(struct yarn_period_jitter *jitter,
                                  const struct yarn_session *session,
                                  const struct yarn_typed_record *record);
