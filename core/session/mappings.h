/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The mappings of the process by repeated scans of /proc, where the kernel does not report them:
 * what is writable may hold a stack (stack_bounds), what is executable and new since the last scan
 * is given to the listener as the kernel's mapping record would be. How often it scans depends on
 * what a scan costs.
 *
 * Threads: the reader thread only. Signals: not safe, but for look-ups in `bounds`.
 */
#pragma once

#include <sys/types.h>

#include "core/base/table.h"
#include "core/record/record.h"
#include "core/session/stack_bounds.h"

struct yarn_mappings {
    pid_t pid;
    struct yarn_stack_bounds bounds;
    struct yarn_table known; /* executable ones -> number of the scan that saw them last */
    uint32_t nr_scans;
    uint64_t next_ns, soonest_ns;  /* of the next scan: without need; with need */
    struct yarn_record_mmap *room; /* borrowed; for one record */
};

/* The first scan, without a listener. */
YARN_MUST_CHECK int yarn_mappings_open(struct yarn_mappings *mappings, pid_t pid,
                                       struct yarn_record_mmap *room);

enum yarn_mappings_need {
    YARN_MAPPINGS_USUAL,
    YARN_MAPPINGS_NEEDED, /* something was seen that is not known */
    YARN_MAPPINGS_LAST,   /* there will be no other scan */
};

/* Scans if it is time to; true where it did. */
bool yarn_mappings_refresh(struct yarn_mappings *mappings, enum yarn_mappings_need need,
                           uint64_t interval_ns, const struct yarn_record_listener *listener);

/* After the last look-up in `bounds` has ended. Idempotent. */
void yarn_mappings_close(struct yarn_mappings *mappings);
