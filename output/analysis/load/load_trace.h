/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fills a profile and a log of the scheduler from the events of a trace.dat: what its sched_switch
 * and sched_waking say of threads, of all processes as one. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"
#include "output/analysis/sched/sched_log.h"
#include "output/store/stream.h"

/* Couplebreak is off; the log is not sorted. -ENOMEM. */
YARN_MUST_CHECK int yarn_profile_load_trace(struct yarn_profile *profile,
                                            struct yarn_stream *stream,
                                            struct yarn_sched_log *sched);
