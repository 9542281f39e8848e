/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * CPU time of forked children without a dump of their own, because they ended too soon or were
 * never sampled: a page that a recorded process shares with them. Each child adds its CPU time when
 * it ends, by one system call, and the process shows the sum as unsampled time. The time of
 * children that are killed, or that outlive the reader, is missing.
 *
 * Also the empty dumps that children had to create early, because they could not later: the process
 * removes those that remain. The contents are untrusted: any child may write here.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/slots.h"

struct yarn_child_dump {
    uint32_t number; /* in the name */
    int32_t pid;
    uint64_t start_realtime_ns;
};

enum { YARN_CHILD_DUMPS_MAX = 100 }; /* more are not removed */

struct yarn_child_times {
    _Atomic uint64_t nr_children;
    _Atomic uint64_t cpu_ns;
    _Atomic uint64_t off_cpu_ns;                  /* while recording was stopped; from outside */
    _Atomic uint32_t state[YARN_CHILD_DUMPS_MAX]; /* of each dump: child_times.c's own */
    struct yarn_child_dump dump[YARN_CHILD_DUMPS_MAX];
};

/* NULL where there is no memory. */
struct yarn_child_times *yarn_child_times_new(void);
/* Unmaps it in this process; NULL is allowed. */
void yarn_child_times_free(struct yarn_child_times *child_times);

/* Adds the CPU time of the calling process, for 1 child; for -1 takes it back: the process did not
 * end after all. NULL is allowed. */
void yarn_child_times_add(struct yarn_child_times *child_times, int nr_children, uint64_t cpu_ns);
/* Of a dump of the calling process. NULL is allowed. */
void yarn_child_times_add_dump(struct yarn_child_times *child_times,
                               const struct yarn_child_dump *dump);
/* Calls the function for each, and removes it where that returns true. NULL is allowed. */
typedef bool (*yarn_child_dump_fn)(void *self, const struct yarn_child_dump *dump);
void yarn_child_times_visit_dumps(struct yarn_child_times *child_times, yarn_child_dump_fn visit,
                                  void *self);
