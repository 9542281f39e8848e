/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The times that the recording covers: when it was stopped and started, how much CPU time the host
 * used in between, and the COVERAGE records for the dump, which may be created later. Knows times;
 * does not know the session.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/sys/target.h"
#include "output/dump/writer.h"

enum { YARN_COVERAGE_WAITING_MAX = 64 };

struct yarn_coverage {
    const struct yarn_target *target; /* borrowed: whose CPU time it is */
    bool is_off;
    uint64_t off_since_ns;     /* where it is off */
    uint64_t off_since_cpu_ns; /* the host's CPU time then */
    uint64_t from_ns,
        until_ns; /* the last time that was not covered; until: UINT64_MAX while off */
    uint64_t stopped_ns, stopped_cpu_ns; /* of the stops that have ended */
    uint64_t before_cpu_ns;              /* the host's CPU time when it began */
    uint64_t end_cpu_ns;                 /* and when it ended; 0: it is still running */
    struct yarn_ticks off_since_ticks;
    struct yarn_ticks off_ticks; /* of them, and of the time before the start */
    struct yarn_dump_coverage waiting[YARN_COVERAGE_WAITING_MAX]; /* for a dump */
    size_t nr_waiting;
};

/* The time before this call is not covered. */
void yarn_coverage_begin(struct yarn_coverage *coverage);

/* The events are off for good. The time in which the reader reads the remaining records is not
 * covered. */
void yarn_coverage_end(struct yarn_coverage *coverage);

/* The host's CPU time, and its ticks, while it was covered. */
uint64_t yarn_coverage_cpu_ns(const struct yarn_coverage *coverage);
struct yarn_ticks yarn_coverage_ticks(const struct yarn_coverage *coverage);

/* Stopped since before it began, when the process had used cpu_ns. */
void yarn_coverage_begin_off(struct yarn_coverage *coverage, uint64_t since_ns, uint64_t cpu_ns,
                             enum yarn_dump_coverage_cause cause);

/* Call the first after the events are disabled, the second before they are enabled. */
void yarn_coverage_stop(struct yarn_coverage *coverage, uint64_t now_ns,
                        enum yarn_dump_coverage_cause cause);
void yarn_coverage_start(struct yarn_coverage *coverage, uint64_t now_ns,
                         enum yarn_dump_coverage_cause cause);

/* True where a sample of that time is to be dropped: an event that is inherited in the moment of a
 * stop may continue for a while. */
static inline bool yarn_coverage_excludes(const struct yarn_coverage *coverage, uint64_t time_ns)
{
    return time_ns > coverage->from_ns && time_ns < coverage->until_ns;
}

/* Up to now, including a stop that has not ended. */
uint64_t yarn_coverage_stopped_ns(const struct yarn_coverage *coverage, uint64_t now_ns);
uint64_t yarn_coverage_stopped_cpu_ns(const struct yarn_coverage *coverage);

/* Stores the pending records. */
void yarn_coverage_write(struct yarn_coverage *coverage, struct yarn_dump_writer *writer);
