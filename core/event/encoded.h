/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A list of events in other words, which the profiler in another process reads: there a probe is
 * the tracepoint that it was defined as, an event of a tool's own tables its number, and asked=
 * says what was typed.
 *
 * Threads, signals: pure functions; safe anywhere.
 */
#pragma once

#include "core/event/parse.h"

/* The text that the list was parsed from, with new words for each spec that has `is_encoded`. */
void yarn_event_list_encode(const struct yarn_event_list *list, const char *text,
                            struct yarn_text *ret_text);

/* The text as it was before it was encoded. It is no longer than this one. */
void yarn_event_list_decode(const struct yarn_event_list *list, const char *text,
                            struct yarn_text *ret_text);
