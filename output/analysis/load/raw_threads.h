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

/* False where the event has no such field. */
YARN_MUST_CHECK bool yarn_raw_thread_pid(const struct yarn_trace_fields *fields, const char *name,
                                         struct yarn_span raw, uint32_t *ret_pid);
/* Remembers the name (of `strings`) that goes with a number, if the sample has both: -ENOMEM. */
YARN_MUST_CHECK int yarn_raw_thread_note(struct yarn_table *comms, struct yarn_strings *strings,
                                         const struct yarn_trace_fields *fields,
                                         struct yarn_span raw, const char *pid_name,
                                         const char *comm_name);
/* The same of both sides of sched_switch. */
YARN_MUST_CHECK int yarn_raw_thread_note_switch(struct yarn_table *comms,
                                                struct yarn_strings *strings,
                                                const struct yarn_trace_fields *fields,
                                                struct yarn_span raw);
