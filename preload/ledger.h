/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What children after fork used that leave no dump of their own, because they were gone too soon or
 * were never sampled: a page that a recorded process has in common with them. Each pays its CPU
 * time in as it leaves, which costs it one system call, and the process shows the sum as unsampled
 * time. Time of children that are killed before is missing, and of those that outlive the reader.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include <stdatomic.h>

#include "core/base/base.h"

struct yarn_ledger {
    _Atomic uint64_t nr_children;
    _Atomic uint64_t cpu_ns;
};

/* NULL where there is no memory. */
struct yarn_ledger *yarn_ledger_new(void);
/* This process's view of it; NULL is allowed. */
void yarn_ledger_free(struct yarn_ledger *ledger);

/* The calling process pays. NULL is allowed. */
void yarn_ledger_pay(struct yarn_ledger *ledger, uint64_t cpu_ns);
/* It did not leave after all. */
void yarn_ledger_take_back(struct yarn_ledger *ledger, uint64_t cpu_ns);
