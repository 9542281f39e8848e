/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Threads as fields of a tracepoint's sample name them: numbers of the first pid namespace, and the
 * names that go with them. Knows field descriptions; does not know threads of the profile.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/table.h"
#include "output/analysis/value/strings.h"
#include "output/store/trace_fields.h"

/* Yarn's own thread keeps the name "[yarn]", whatever samples call it. -ENOMEM. */
YARN_MUST_CHECK int yarn_raw_threads_note_own(struct yarn_table *comms,
                                              struct yarn_strings *strings, uint32_t raw_pid);

/* Remembers the names (of `strings`) that go with numbers in the sample: -ENOMEM. */
YARN_MUST_CHECK int yarn_raw_threads_note(struct yarn_table *comms, struct yarn_strings *strings,
                                          const struct yarn_trace_fields *fields,
                                          struct yarn_span raw);
