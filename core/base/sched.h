/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * YARN_SCHED, in words and as a value: what is recorded of threads that do not run. Knows the
 * words; does not know how switches are recorded.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/base/text.h"

enum yarn_sched_kind {
    YARN_SCHED_OFF,
    YARN_SCHED_SWITCH, /* the kernel's switch records */
    YARN_SCHED_TRACEPOINTS,
    YARN_SCHED_TRACEPOINTS_ALL,
    YARN_SCHED_AUTO,
};

struct yarn_sched {
    enum yarn_sched_kind kind;
    uint32_t rate_max_hz; /* switch records a second and core; 0: any number */
};

/* off, switch[:RATE], tracepoints, tracepoints:all or auto. */
YARN_MUST_CHECK int yarn_sched_parse(const char *text, size_t size, struct yarn_sched *ret_sched,
                                     struct yarn_parse_error *ret_error);

/* The words that yarn_sched_parse reads back. */
void yarn_sched_describe(const struct yarn_sched *sched, struct yarn_text *text);
