/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a session of libyarn did not get as asked: the status of each event, and the worst of all.
 * Threads: the session's. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"

/* Bits of enum yarn_event_status_bit; *ret_reason as in yarn_session_status. */
uint32_t yarn_session_status_of(const struct yarn_event_status *status, const char **ret_reason);

/* Of what was not got as asked, the worst, a sentence; NULL. `lacks_poll`: it was to be polled. */
const char *yarn_session_reason(const struct yarn_session *session, bool lacks_poll);
