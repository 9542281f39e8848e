/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which event is whose alternate (alternates.h), by their numbers.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* An alternate is an event of its own, numbered behind those of the request (alternates.h). */
static inline bool yarn_alternates_is_one(const struct yarn_session *session, uint32_t number)
{
    return number - session->alternates.first < session->alternates.count;
}

/* Whose turn it may be: of events that have an alternate, and of these. */
static inline enum yarn_side yarn_alternates_side(const struct yarn_session *session,
                                                  uint32_t number)
{
    if (yarn_alternates_is_one(session, number))
        return YARN_SIDE_ALTERNATES;
    return number < session->request->nr_events && session->statuses[number].alternate
               ? YARN_SIDE_FIRST
               : YARN_SIDE_NONE;
}

/* The event whose alternate it is; else itself. */
static inline uint32_t yarn_alternates_first(const struct yarn_session *session, uint32_t number)
{
    return yarn_alternates_is_one(session, number) ? session->statuses[number].alternate_of - 1
                                                   : number;
}
