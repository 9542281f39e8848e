/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a word is meant to be that is no event: a tracepoint or function without what stands before
 * it, or the form that another profiler has for it. Threads: one.
 */
#pragma once

#include "core/event/parse.h"

/* A list that somebody typed, with this machine's and libpfm4's names. -EINVAL: ret_error->why is
 * the sentence with "; FORM?" behind it where something is known; also of a form of another
 * profiler that might be a tracepoint where tracefs cannot be read. */
YARN_MUST_CHECK int yarn_events_understand(const char *text, struct yarn_arena *arena,
                                           struct yarn_event_list *ret_list,
                                           struct yarn_parse_error *ret_error);
