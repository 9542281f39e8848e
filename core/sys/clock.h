/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's clocks in ns, by raw call. Threads, signals: safe anywhere.
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
