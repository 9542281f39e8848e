/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What children after fork used that leave no dump of their own, because they were gone too soon or
 * were never sampled: a page that a recorded process has in common with them. Each adds its CPU
 * time in as it leaves, which costs it one system call, and the process shows the sum as unsampled
 * time. Time of children that are killed before is missing, and of those that outlive the reader.
 *
 * And which dumps they began because they could not have later, with nothing in them: the process
 * removes those that are left. A child may write what it likes in here.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

struct yarn_charges_dump {
    uint32_t number; /* in the name */
    int32_t pid;
    uint64_t start_ns, start_realtime_ns;
};

enum { YARN_CHARGES_DUMPS_MAX = 100 }; /* more stay where they are */

struct yarn_charges {
    _Atomic uint64_t nr_children;
    _Atomic uint64_t cpu_ns;
    _Atomic uint32_t state[YARN_CHARGES_DUMPS_MAX]; /* the charges's own */
    struct yarn_charges_dump dump[YARN_CHARGES_DUMPS_MAX];
};

/* NULL where there is no memory. */
struct yarn_charges *yarn_charges_new(void);
/* This process's view of it; NULL is allowed. */
void yarn_charges_free(struct yarn_charges *charges);

/* The calling process adds its own. NULL is allowed. */
void yarn_charges_add(struct yarn_charges *charges, uint64_t cpu_ns);
/* Of a dump of the calling process. NULL is allowed. */
void yarn_charges_note(struct yarn_charges *charges, const struct yarn_charges_dump *dump);
/* Has the function look at each; where it says true, it is removed. NULL is allowed. */
typedef bool (*yarn_charges_fn)(void *self, const struct yarn_charges_dump *dump);
void yarn_charges_visit(struct yarn_charges *charges, yarn_charges_fn look, void *self);

/* It did not leave after all. */
void yarn_charges_take_back(struct yarn_charges *charges, uint64_t cpu_ns);
