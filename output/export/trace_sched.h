/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The section of a trace.dat that only we read (output/trace/trace_sched.h).
 */
#pragma once

#include "output/analysis/sched/sched_log.h"
#include "output/export/export.h"

/* The log is not settled, and all of the profile. Faults of the file are found when it is closed.
 */
void yarn_trace_sched_put(FILE *file, const struct yarn_profile *profile,
                          const struct yarn_sched_log *sched);
