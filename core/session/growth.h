/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Larger rings for the cores of a session that lives longer than most: once there are samples, the
 * same events are redirected into larger rings. So the contexts of the host's threads stay clones
 * of each other, and the kernel goes on to exchange them at a switch instead of stopping and
 * starting each clock.
 *
 * To redirect an event that is enabled takes the caller a grace period of the kernel, 8 to 20 ms:
 * not in the first 100 ms, and one event between two drains. An event with an alternate rests
 * meanwhile (alternates.h), and its redirection takes no time: where all have one, rings grow
 * earlier once they were found half full.
 *
 * Private to core/session, of the strategy per-core. Threads: the reader thread only. Signals: not
 * safe.
 */
#pragma once

#include "core/session/state.h"

/* Once the first rings are there: how large they will be, by what the limit of locked memory leaves
 * beside them. */
void yarn_growth_plan(struct yarn_session *session);

/* Whether they are to become larger, and are not yet. */
static inline bool yarn_growth_is_to_come(const struct yarn_session *session)
{
    return session->growth.ring_bytes > session->report.got.ring_bytes;
}

/* Before a drain: whether the reader comes late for rings of the first size. */
void yarn_growth_before_drain(struct yarn_session *session);

/* After a drain: a step, where it is time for one. */
void yarn_growth_after_drain(struct yarn_session *session);
