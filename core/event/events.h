/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What stands behind the library's list of events (yarn/event.h).
 * Threads: a list is immutable; any number of threads may use it. Signals: not safe.
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
