/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's clocks in ns, by raw call. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

enum yarn_clock {
    YARN_CLOCK_MONOTONIC,
    YARN_CLOCK_MONOTONIC_RAW,
    YARN_CLOCK_BOOTTIME,
    YARN_CLOCK_REALTIME,
    YARN_CLOCK_THREAD_CPU,  /* of the calling thread */
    YARN_CLOCK_PROCESS_CPU, /* of all threads, the caller's among them */
    YARN_CLOCK_COUNT,
};

/* 0 where the kernel lacks the clock. */
uint64_t yarn_clock_ns(enum yarn_clock clock);
