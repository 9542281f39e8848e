/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Where a stack may end: the writable mappings of the process, as of the reader's last scan. A
 * table that is replaced whole: there are two, and a generation says which one counts; a look-up
 * that was overtaken by a replacement is done again.
 *
 * Threads: one writer; any number of look-ups at any time. Signals: a look-up takes no lock and is
 * async-signal-safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/room.h"

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
