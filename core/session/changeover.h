/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The change-over of a running session to other rings and events, towards what it wants: rings of
 * the whole size once there are enough samples for somebody to live longer than a moment, and
 * deeper copies once many were cut off. Where there is memory for neither, the best that the rings
 * hold. Knows what to try and when; the attachment does it.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* Tries in all, because threads may appear meanwhile, for the size and again for the depth. */
enum { YARN_CHANGEOVER_TRIES = 4 };

/* Deeper copies from now on, where they are to be had; at once where that can be. */
void yarn_changeover_want_deeper(struct yarn_session *session);

/* Changes over where it is time. */
void yarn_changeover_in_time(struct yarn_session *session);

/* One try. -EAGAIN: threads appeared meanwhile. -EBUSY: not before the former rings are empty. */
YARN_MUST_CHECK int yarn_changeover_try(struct yarn_session *session);
