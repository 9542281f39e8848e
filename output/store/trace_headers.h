/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The headers of a trace.dat that both versions have alike: layout of pages, formats, names. Each
 * function leaves the cursor failed where it meets the end. Threads: one owner at a time.
 */
#pragma once

#include "output/store/trace_state.h"

/* Of the ring buffer's pages. */
void yarn_trace_take_headers(struct yarn_trace_file *file, struct yarn_cursor *cursor);
/* Events of the tracer's own, and all others. -ENOMEM. */
YARN_MUST_CHECK int yarn_trace_take_ftrace(struct yarn_trace_file *file,
                                           struct yarn_cursor *cursor);
YARN_MUST_CHECK int yarn_trace_take_formats(struct yarn_trace_file *file,
                                            struct yarn_cursor *cursor);
void yarn_trace_take_names(struct yarn_trace_file *file, struct yarn_cursor *cursor);
