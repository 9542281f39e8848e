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
static inline uint32_t yarn_group_first(const struct yarn_session *session, uint32_t number)
{
    uint8_t group = session->statuses[number].spec.group;
    while (group && number && session->statuses[number - 1].spec.group == group)
        number--;
    return number;
}

static inline uint32_t yarn_group_end(const struct yarn_session *session, uint32_t first)
{
    uint32_t end = first + 1;
    uint8_t group = session->statuses[first].spec.group;
    while (group && end < session->request->nr_events && session->statuses[end].spec.group == group)
        end++;
    return end;
}
