/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Groups of events: they stand beside each other among the session's, the leader first. An event
 * alone is a group of one.
 *
 * Private to core/session. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/session/state.h"

/* The leader's number, and the one behind the last of the group that begins at `first`. */
uint32_t yarn_group_first(const struct yarn_session *session, uint32_t number);
uint32_t yarn_group_end(const struct yarn_session *session, uint32_t first);
