/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What of an event is refused, or asked for otherwise, before the kernel is asked: it could not be
 * asked so, or would accept what it does not keep.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* In the order of their numbers: notes why event `number` is refused, if it is. */
void yarn_usable_check(struct yarn_session *session, uint32_t number);

/* `err` negative, `why` static or the session's. */
void yarn_usable_refuse(struct yarn_event_status *state, int err, const char *why);

/* Its stacks are copied where lists of calls were asked for. */
void yarn_usable_copy_instead(struct yarn_event_status *state, const char *why);
