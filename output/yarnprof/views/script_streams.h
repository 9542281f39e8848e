/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Entries of streams in the layout of script: all of a trace.dat, and the targets that couplebreak
 * puts behind samples of a dump. Threads: one.
 */
#pragma once

#include "output/analysis/time/timeline.h"
#include "output/yarnprof/views/script_request.h"
#include "output/yarnprof/views/stream_list.h"

/* All entries of all streams, each behind the other. */
void yarn_script_streams(const struct yarn_script *script, const struct yarn_stream_view *shown,
                         const struct yarn_out *out);

/* The begin of a line, up to the event; without one, up to the time. */
struct yarn_script_line {
    const char *comm, *event; /* NULL: none */
    uint32_t pid, tid;
    int cpu; /* negative: none */
    uint64_t time_ns, period;
};
void yarn_script_begin(const struct yarn_script *script, const struct yarn_script_line *line,
                       FILE *file);

/* The target of that sample, if it has one that passes. */
void yarn_script_target(const struct yarn_script *script, const struct yarn_timeline_entry *sample,
                        FILE *file);
