/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The change-over of a running session to other rings and events, towards what it wants: rings of
 * the whole size once there are enough samples (most processes are short), and deeper copies once
 * many were cut off. Without memory for either, copies as deep as the present rings hold. Knows
 * what to try and when; the attachment does it.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* Tries in all, because threads may appear meanwhile, for the size and again for the depth. */
enum { YARN_CHANGEOVER_TRIES = 4 };

/* Deeper copies from now on, where there is memory; at once if possible. */
void yarn_changeover_want_deeper(struct yarn_session *session);

/* Changes over where it is time. */
void yarn_changeover_in_time(struct yarn_session *session);

/* One try. -EAGAIN: threads appeared meanwhile. -EBUSY: not before the former rings are empty. */
YARN_MUST_CHECK int yarn_changeover_try(struct yarn_session *session);
