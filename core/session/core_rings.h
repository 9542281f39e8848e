/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rings of a session that has them by core: one for each of session->cores. Knows their
 * mapping, their end and how they are merged; does not know what fills them (the attachments).
 * Others can take their place while samples come: an event is redirected once and for all, so those
 * of another size get rings of their own, and the former ones stay until they are empty.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* Room for so many rings. A failure is in the report. */
YARN_MUST_CHECK int yarn_core_rings_init(struct yarn_session *session, size_t max_rings);

/* Maps the event, which becomes the leader of one more ring of the size that the report says.
 * -ENOMEM: the limit of locked memory. On failure the event stays the caller's. */
YARN_MUST_CHECK int yarn_core_rings_add(struct yarn_session *session,
                                        const struct yarn_event *event);

/* Once all are there. A failure is in the report. */
YARN_MUST_CHECK int yarn_core_rings_merge(struct yarn_session *session);

/* Sets those in use aside and makes room for as many. */
YARN_MUST_CHECK int yarn_core_rings_set_aside(struct yarn_session *session);
/* After that: closes the new ones, and all is as before. */
void yarn_core_rings_take_back(struct yarn_session *session);
/* Closes those that were set aside, once nothing fills them and nothing is left in them. */
void yarn_core_rings_attend(struct yarn_session *session);

size_t yarn_core_rings_bytes(const struct yarn_session *session);

/* Leaders and rings. Idempotent. */
void yarn_core_rings_close(struct yarn_session *session);
