/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How far CLOCK_MONOTONIC is ahead of a core's own clock, by which the kernel stamps the records of
 * events whose PMU knows no other. Measured: the calling thread goes onto the core, and between two
 * readings of CLOCK_MONOTONIC takes the name that it has, which an event of that clock records. The
 * closest pair of many counts.
 *
 * Threads: any; its cores are given back. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_clock_offset {
    int64_t offset_ns; /* to be added to the core's own time */
    uint64_t bound_ns; /* by which it was off at most, when it was measured */
    uint64_t time_ns;  /* when that was, CLOCK_MONOTONIC */
};

/* `features`: enum yarn_attr_feature that the kernel knows. -EAGAIN: the thread was not on the
 * core.
 */
YARN_MUST_CHECK int yarn_clock_offset_measure(int cpu, uint32_t features,
                                              struct yarn_clock_offset *ret_offset);
