/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Events that are counted beside those that are sampled. Each, or each group, is led by a slow
 * clock whose samples, without stacks, tell what it has counted on that thread and core. The clock
 * that samples is never in such a group: a PMU that cannot schedule it would stop the samples.
 *
 * Threads, signals: pure functions over values.
 */
#pragma once

#include "core/event/parse.h"

/* Of the leaders. */
#define YARN_COUNTED_HZ 99

/* Adds them behind those of `list`. -E2BIG: they do not fit, and nothing is added. */
YARN_MUST_CHECK int yarn_event_list_add_counted(struct yarn_event_list *list,
                                                const struct yarn_event_list *counted);
