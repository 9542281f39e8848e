/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel counted of a thread beside what records say of the same time: the kernel's
 * numbers are known at moments; between two of them all that is unknown is taken off.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

struct yarn_sched_meter {
    bool has_last;
    uint64_t last;             /* the kernel's number at the last moment */
    uint64_t since, unknown;   /* by the records, since then */
    uint64_t kernel, recorded; /* of the times that count */
};

void yarn_sched_meter_read(struct yarn_sched_meter *meter, uint64_t number);
