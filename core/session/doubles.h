/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that is made while events are attached to the others may have inherited some and is
 * given its own as well: the kernel does not tell. Then all of its records come twice, by two
 * events. Of two that are of one occurrence one goes on; else, of each thread, cpu and event of the
 * list, those of the first one that is seen, until it falls silent.
 *
 * Private to core/session. Knows records; does not know how they came. Threads: the reader's only.
 * Signals: not safe.
 */
#pragma once

#include "core/base/table.h"
#include "core/record/record.h"

enum { YARN_SESSION_DOUBLES_LATEST = 1024 };

/* Of one cpu and event. */
struct yarn_session_latest {
    uint64_t time_ns;
    uint32_t tid, cpu, number;
};

struct yarn_session_doubles {
    struct yarn_table
        writers;             /* thread, its life, cpu and number of the event -> id of the event */
    struct yarn_table lives; /* thread -> number of its life, odd once it has ended */
    bool has_any;            /* a record has come twice */
    struct yarn_session_latest latest[YARN_SESSION_DOUBLES_LATEST];
};

YARN_MUST_CHECK int yarn_session_doubles_open(struct yarn_session_doubles *doubles);

/* Whether another event has written the record already. `number` of the event that wrote it;
 * `samples_each`: each occurrence is a sample, of all events at one time. */
bool yarn_session_doubles_has(struct yarn_session_doubles *doubles,
                              const struct yarn_typed_record *record, uint32_t number,
                              bool samples_each);

/* Idempotent. */
void yarn_session_doubles_close(struct yarn_session_doubles *doubles);
