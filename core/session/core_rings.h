/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rings of a session that has them by core: one for each of session->cores. Knows their
 * mapping, their end and how they are merged; does not know what fills them (the attachments).
 * Larger ones can take their place while samples come (attach_per_core.c): the former ones stay
 * until nothing fills them and they are empty.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* A leader on that core, for a poller woken each `watermark` bytes, and its ring. -ENOMEM: the
 * limit of locked memory. On failure it is closed. */
YARN_MUST_CHECK int yarn_core_ring_open(const struct yarn_session *session, int cpu, size_t bytes,
                                        size_t watermark, struct yarn_session_core *ret_core);
/* Where they are, they are no more. */
void yarn_core_rings_close(struct yarn_session_core *cores, size_t *nr_cores);

/* A leader on each core with a ring, into the empty list. -ENOMEM: the limit of locked memory. On
 * failure all are closed. */
YARN_MUST_CHECK int yarn_core_rings_open(const struct yarn_session *session,
                                         struct yarn_session_core *cores, size_t *nr_cores);

/* The event whose ring is that core's. */
const struct yarn_event *yarn_core_rings_leader(const struct yarn_session *session, int cpu);

/* Once all are there. A failure is in the report. */
YARN_MUST_CHECK int yarn_core_rings_merge(struct yarn_session *session);

/* Sets those in use aside for new ones; on failure these are closed, and all is as before. */
YARN_MUST_CHECK int yarn_core_rings_replace(struct yarn_session *session,
                                            struct yarn_session_core *cores, size_t nr_cores);
/* Closes those that were set aside, once nothing fills them and nothing is left in them. */
void yarn_core_rings_close_former(struct yarn_session *session);

size_t yarn_core_rings_bytes(const struct yarn_session *session);
