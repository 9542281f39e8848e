/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Idleness of the host: nothing was recorded and its CPU time stood still for an interval. Then the
 * reader has its turns at doubling distances, so that of a sleep that a kill ends at most half is
 * unknown. Knows times; does not know how the reader waits.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/sys/clock.h"

struct yarn_idleness {
    uint64_t cpu_ns;   /* of the host's threads at most, when it was last found to have moved */
    uint64_t since_ns; /* the turn that found it standing; 0: the host works */
};

/* At a turn that is due, `has_records` since the one before: until the next. */
uint64_t yarn_idleness_pause_ns(struct yarn_idleness *idleness, struct yarn_cpu_bounds cpu,
                                bool has_records, uint64_t now_ns, uint64_t interval_ns);

/* While it sleeps: true where it does no more, from now on. */
bool yarn_idleness_is_over(struct yarn_idleness *idleness, struct yarn_cpu_bounds cpu);
