/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What filter='EXPR' of an event becomes: the kernel's own filter of a tracepoint or probe, or a
 * BPF program of ours, loaded once, at the samples of any other.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* Loads the program that the event needs, if any. A negative errno, and the sentence of the
 * refusal.
 */
YARN_MUST_CHECK int yarn_filters_prepare(const struct yarn_session *session,
                                         struct yarn_event_status *state, const char **ret_why);

/* On an open event. -EDOM: the kernel does not take it. */
YARN_MUST_CHECK int yarn_filters_set(const struct yarn_event_status *state, int fd);
