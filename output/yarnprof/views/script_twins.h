/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Entries of streams in the layout of script: all of a trace.dat, and the targets that couplebreak
 * puts behind samples of a dump. Threads: one.
 */
#pragma once

#include "output/analysis/time/timeline.h"
#include "output/yarnprof/views/couples.h"
#include "output/yarnprof/views/script_request.h"

/* All entries of all streams, each behind the other. */
void yarn_script_streams(const struct yarn_script *script, const struct yarn_couples_shown *shown,
                         const struct yarn_out *out);

/* The target of that sample, if it has one that passes. */
void yarn_script_twin(const struct yarn_script *script, const struct yarn_timeline_entry *sample,
                      FILE *file);
