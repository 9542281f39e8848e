/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Up to which place of each thread's stack its walks came, and when last: a frame that lies within
 * and was not met by that walk had ended by then.
 * Bounded: 64 threads, 16 heights each; what is forgotten is answered for the careful side.
 * Knows no frames.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_COVERAGE_THREADS = 64, YARN_COVERAGE_HEIGHTS = 16 };

struct yarn_coverage_height {
    uint64_t place;
    uint32_t walk;
};

/* Later walks came less high than earlier ones that are still here. */
struct yarn_coverage_thread {
    uint32_t tid;
    uint32_t nr_heights;
    uint32_t since; /* walk; nothing is known from before */
    struct yarn_coverage_height height[YARN_COVERAGE_HEIGHTS];
};

struct yarn_coverage {
    struct yarn_coverage_thread thread[YARN_COVERAGE_THREADS];
};

/* Walks are numbered upwards; all zero is empty. */
void yarn_coverage_add(struct yarn_coverage *coverage, uint32_t tid, uint64_t place, uint32_t walk);

/* The last walk that came as high as `place`, or one after which nothing is known. */
uint32_t yarn_coverage_last(const struct yarn_coverage *coverage, uint32_t tid, uint64_t place);
