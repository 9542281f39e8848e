/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Times are stored as CLOCK_MONOTONIC; the user may have chosen another clock (YARN_CLOCK), and
 * views show that one. Threads: safe anywhere.
 */
#pragma once

#include "output/dump/types.h"

/* What to add to a stored time. */
static inline int64_t yarn_clock_offset_ns(const struct yarn_dump_process *process)
{
    switch (process->clock) {
    case 1:
        return process->monotonic_raw_offset_ns;
    case 2:
        return (int64_t)process->boottime_offset_ns;
    default:
        return 0;
    }
}

static inline uint64_t yarn_clock_shown_ns(const struct yarn_dump_process *process,
                                           uint64_t monotonic_ns)
{
    return monotonic_ns ? monotonic_ns + (uint64_t)yarn_clock_offset_ns(process) : 0;
}
