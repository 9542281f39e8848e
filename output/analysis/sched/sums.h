/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where the life of a thread went, in whole ns: running + switching + runnable + blocked + unknown
 * are its life. Threads: any number at once, each with sums of its own.
 */
#pragma once

#include "output/analysis/sched/walk.h"

enum yarn_sched_runnable_from {
    YARN_SCHED_FROM_RECORDS, /* after births and preemptions alone */
    YARN_SCHED_FROM_SCHEDSTAT,
    YARN_SCHED_FROM_WAKING,
};

/* Of single waits whose begin and end are known. */
struct yarn_sched_waits {
    uint64_t count, mean_ns, p99_ns, max_ns;
    uint64_t longest_at_ns; /* when the longest began */
};

struct yarn_sched_sums {
    uint64_t life_ns, running_ns, switching_ns, runnable_ns, blocked_ns, unknown_ns;
    uint64_t switches, preemptions, wakeups, migrations;
    uint64_t refused;
    struct yarn_sched_waits waits;
    enum yarn_sched_runnable_from runnable_from;
    bool has_clock; /* its CPU time was known: switching_ns says something */
};

/* Single waits of a thread, kept between threads: an owned array. */
struct yarn_sched_scratch {
    uint64_t *waits;
    size_t count, capacity;
};

/* Of the part of its life that lies in the window. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_sums_of(const struct yarn_sched_log *sched,
                                       const struct yarn_sched_life *life, uint64_t from_ns,
                                       uint64_t to_ns, struct yarn_sched_scratch *scratch,
                                       struct yarn_sched_sums *ret_sums);
/* Idempotent. */
void yarn_sched_scratch_fini(struct yarn_sched_scratch *scratch);

/* Of these waits, which get sorted and never overlap; without when. */
struct yarn_sched_waits yarn_sched_waits_of(uint64_t *waits, size_t count);
