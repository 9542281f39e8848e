/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's clocks in ns, by raw call. A time namespace may have an offset of its own, which the
 * times of perf's records know nothing of: YARN_TIME_MONOTONIC is without it, the machine's own.
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

enum yarn_time_source {
    YARN_TIME_MONOTONIC,
    YARN_TIME_MONOTONIC_RAW,
    YARN_TIME_BOOTTIME,
    YARN_TIME_REALTIME,
    YARN_TIME_THREAD_CPU,  /* of the calling thread */
    YARN_TIME_PROCESS_CPU, /* of all threads, the caller's among them */
    YARN_TIME_COUNT,
};

/* 0 where the kernel lacks the clock. */
uint64_t yarn_clock_ns(enum yarn_time_source clock);

/* Finds out the offset of the process's time namespace; again in a child after fork, which may be
 * in another one. 0 is assumed where it cannot be read. Not while others read clocks. */
void yarn_clock_enter_namespace(void);

/* CPU time by the kernel's ticks, which sample what a thread is doing: good for shares only,
 * and not of work that is in step with the ticks. */
struct yarn_ticks {
    uint64_t all_ns, system_ns;
};

/* CPU time of all threads but the caller; 0 where the process's clock cannot be read. */
uint64_t yarn_clock_cpu_ns_of_others(void);

/* The same between two bounds: with many threads the kernel takes a while to add it up, in which
 * the caller runs. */
struct yarn_cpu_bounds {
    uint64_t least_ns, most_ns;
};
struct yarn_cpu_bounds yarn_clock_cpu_bounds_of_others(void);

/* Of all threads but the caller. */
struct yarn_ticks yarn_clock_ticks_of_others(void);
