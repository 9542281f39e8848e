/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tracepoints of YARN_SCHED behind the events of YARN_EVENTS: who left a core for whom, and who
 * woke whom, without stacks. They are no part of the profile.
 *
 * Threads: one owner of the arena. Signals: safe as far as the arena is.
 */
#pragma once

#include "core/event/parse.h"

/* Adds sched_switch and sched_waking, but what is in the list already: of every thread of the
 * machine, or of the process's own. `is_if_permitted`: a refusal is no fault. Nothing is added
 * where the kernel has none, or where the list has no room for them and one more. -ENOMEM. */
YARN_MUST_CHECK int yarn_event_list_add_scheduling(struct yarn_event_list *list,
                                                   struct yarn_arena *arena, bool is_of_machine,
                                                   bool is_if_permitted);
