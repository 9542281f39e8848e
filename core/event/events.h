/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library's list of events (yarn/event.h), and lists made of others. Threads: a list is
 * immutable; any number of threads may use it. Signals: not safe.
 */
#pragma once

#include "core/event/parse.h"

struct yarn_events {
    struct yarn_arena arena; /* of the texts, and of this */
    struct yarn_event_list list;
};

/* The texts of a spec that outlives its list. */
YARN_MUST_CHECK int yarn_event_spec_copy_texts(struct yarn_event_spec *spec,
                                               struct yarn_arena *arena);

/* Events that are counted beside those that are sampled. Each, or each group, is led by a slow
 * clock whose samples, without stacks, tell what it has counted on that thread and core. The clock
 * that samples is never in such a group: a PMU that cannot schedule it would stop the samples. */

/* Of the leaders. */
#define YARN_COUNTED_HZ 99

/* Adds them behind those of `list`. -E2BIG: they do not fit, and nothing is added. */
YARN_MUST_CHECK int yarn_event_list_add_counted(struct yarn_event_list *list,
                                                const struct yarn_event_list *counted);

/* The tracepoints of YARN_SCHED behind the events of YARN_EVENTS: who left a core for whom, and who
 * woke whom, without stacks. They are no part of the profile. */

/* Adds sched_switch and sched_waking, but what is in the list already: of every thread of the
 * machine, or of the process's own. `is_if_permitted`: a refusal is no fault. Nothing is added
 * where the kernel has none, or where the list has no room for them and one more. -ENOMEM. */
YARN_MUST_CHECK int yarn_event_list_add_scheduling(struct yarn_event_list *list,
                                                   struct yarn_arena *arena, bool is_of_machine,
                                                   bool is_if_permitted);
