/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a trace of the scheduler says in place of samples: the time that each thread was on a core,
 * as an event of its own, in pieces, each with the thread's name for a stack.
 * Threads: one.
 */
#pragma once

#include "output/analysis/sched/sched_log.h"
#include "output/export/page/slices.h"

/* The log is sorted, its owners are threads of the profile, which has no events. -ENOMEM. */
YARN_MUST_CHECK int yarn_page_spans_add(struct yarn_profile *profile,
                                        const struct yarn_sched_log *sched,
                                        struct yarn_slices *slices);
