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

#include <stdatomic.h>
#include <sys/types.h>

#include "core/base/room.h"
#include "core/base/table.h"
#include "core/record/record.h"

/* Where a stack may end: the writable mappings of the process, as of the reader's last scan. A
 * table that is replaced whole: there are two, and a generation says which one counts; a look-up
 * that was overtaken by a replacement is done again. */

struct yarn_stack_bounds_range {
    _Atomic uint64_t start, end;
};

struct yarn_stack_bounds_table {
    struct yarn_stack_bounds_range *ranges; /* in the room, NULL at first; in order of address */
    struct yarn_room room;                  /* the writer's */
    _Atomic size_t count;
};

struct yarn_stack_bounds {
    _Atomic uint32_t generation; /* its lowest bit is the number of the table that counts */
    struct yarn_stack_bounds_table table[2];
    size_t nr_new; /* the writer's, between begin and end */
};

void yarn_stack_bounds_open(struct yarn_stack_bounds *bounds);
/* After the last look-up has ended. Idempotent. */
void yarn_stack_bounds_close(struct yarn_stack_bounds *bounds);

/* A new table: begin, add in order of address, end. */
void yarn_stack_bounds_begin(struct yarn_stack_bounds *bounds);
void yarn_stack_bounds_add(struct yarn_stack_bounds *bounds, uint64_t start, uint64_t end);
void yarn_stack_bounds_end(struct yarn_stack_bounds *bounds);

/* The end of the range that holds the address; 0 where none does. */
uint64_t yarn_stack_bounds_find(const struct yarn_stack_bounds *bounds, uint64_t address);

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
