/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * CPU time of the host's threads while a recording was on, by the process's clock: for attachments
 * whose events do not cover every thread all the time.
 *
 * Threads: the reader thread only, whose own time it leaves out.
 */
#pragma once

#include "core/sys/clock.h"
#include "core/sys/perf.h"

struct yarn_host_clock {
    uint64_t ns;      /* to the last stop */
    uint64_t base_ns; /* at the start */
    bool is_running;
};

static inline uint64_t yarn_host_clock_ns(const struct yarn_host_clock *clock)
{
    return clock->ns +
           (clock->is_running ? yarn_u64_minus(yarn_clock_cpu_ns_of_others(), clock->base_ns) : 0);
}

/* Starting what runs, or stopping what does not, changes nothing. */
static inline void yarn_host_clock_start(struct yarn_host_clock *clock)
{
    if (!clock->is_running)
        clock->base_ns = yarn_clock_cpu_ns_of_others();
    clock->is_running = true;
}

static inline void yarn_host_clock_stop(struct yarn_host_clock *clock)
{
    clock->ns = yarn_host_clock_ns(clock);
    clock->is_running = false;
}

/* As an event that was on for all of that time. */
static inline struct yarn_perf_count yarn_host_clock_count(const struct yarn_host_clock *clock,
                                                           uint64_t lost)
{
    uint64_t ns = yarn_host_clock_ns(clock);
    return (struct yarn_perf_count){ns, ns, ns, .lost = lost};
}
