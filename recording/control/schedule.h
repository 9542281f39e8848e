/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The moments at which the recording is to begin and to stop by itself: YARN_START, YARN_DELAY and
 * YARN_DURATION as moments. A command of the user replaces what was planned; each start records for
 * YARN_DURATION. Knows times; does not know the recording. Threads: the reader thread only.
 */
#pragma once

#include "core/config/options.h"

struct yarn_schedule {
    uint64_t start_at_ns, stop_at_ns; /* 0: never */
    uint64_t duration_ns;             /* 0: without end */
};

/* For a process that started at start_ns. True where the recording begins stopped. */
bool yarn_schedule_begin(struct yarn_schedule *schedule, const struct yarn_options *options,
                         uint64_t start_ns);

/* The recording was started or stopped, for any reason. */
void yarn_schedule_started(struct yarn_schedule *schedule, uint64_t now_ns);
void yarn_schedule_stopped(struct yarn_schedule *schedule);

/* How long to wait for the next moment, at most timeout_ns. */
uint64_t yarn_schedule_wait_ns(const struct yarn_schedule *schedule, uint64_t now_ns,
                               uint64_t timeout_ns);
