/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A timeline as text in the layout of perf script, so that what reads that text reads this:
 *
 *     COMM  PID/TID [CPU] SECONDS.MICROS:     PERIOD EVENT: [MEMORY] [FIELD=VALUE …]
 *             ADDRESS FUNCTION+0xOFFSET (MODULE)            one line a frame, the leaf first
 *     (an empty line)
 *
 * Records that are no samples are one line each, without the empty line. Addresses are those of the
 * module's file. Where a stack's root side is missing, the reason stands for a frame.
 *
 * Threads: one.
 */
#pragma once

#include "output/analysis/time/timeline.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/views/script_request.h"

/* A list that replaces *fields or, with + or - before each, changes them. -EINVAL. */
YARN_MUST_CHECK int yarn_script_parse_fields(const char *text, unsigned *fields);

/* Takes the timeline, which must be sorted, to its end. -ENOMEM, or what its file says. */
YARN_MUST_CHECK int yarn_script_print(const struct yarn_script *script,
                                      struct yarn_timeline *timeline, const struct yarn_out *out);
