/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Groups whose leader's samples tell what every member has counted: what each did since the sample
 * before of this thread on this core is its weight, and makes it an event like any other. Knows
 * counters and records; does not know how groups are opened.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/pool.h"
#include "core/base/table.h"
#include "core/record/record.h"

struct yarn_group_reads {
    struct yarn_table numbers; /* of a leader on a core and a thread -> its place in `lasts` */
    struct yarn_pool lasts;
    uint32_t nr_free, first_free;
};

YARN_MUST_CHECK int yarn_group_reads_open(struct yarn_group_reads *reads);

/* Reports the sample as one of each event that has counted since: `numbers` has their ids. */
void yarn_group_reads_report(struct yarn_group_reads *reads, const struct yarn_table *numbers,
                             const struct yarn_typed_record *record,
                             const struct yarn_record_listener *listener);

/* The thread has ended: another with its number begins at 0. */
void yarn_group_reads_remove_thread(struct yarn_group_reads *reads, uint32_t tid);

/* Idempotent. */
void yarn_group_reads_close(struct yarn_group_reads *reads);
