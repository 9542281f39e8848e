/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Fills a profile and a log of the scheduler from a stream's events: what its sched_switch and
 * sched_waking say of threads, of all processes as one. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"
#include "output/analysis/sched/cores.h"
#include "output/analysis/sched/sched_log.h"
#include "output/store/stream.h"

/* Couplebreak is off; `cores` are not sorted. -ENOMEM. */
YARN_MUST_CHECK int yarn_profile_load_stream(struct yarn_profile *profile,
                                             struct yarn_stream *stream,
                                             struct yarn_sched_log *sched,
                                             struct yarn_sched_cores *cores);
