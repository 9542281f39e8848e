/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tracepoints and probes of a command, held open while it runs: the kernel waits 40 ms when the
 * last event of a tracepoint is closed, 90 of a probe, which each process of the tree would do at
 * its end. Probes of files are defined here, once for all of them; those of files that only the
 * command knows by name are left to it. Threads: one.
 */
#pragma once

#include "unwind/site/probe_sites.h"

struct yarn_hold {
    struct yarn_probe_sites probe_sites;
    int fds[YARN_EVENT_LIST_MAX]; /* owned */
    size_t count;
};

/* Of the list, whose probes become tracepoints: those have `is_encoded`. 0, or -errno with the spec
 * that cannot be had, whose `refusal` says why. */
YARN_MUST_CHECK int yarn_hold_open(struct yarn_hold *hold, struct yarn_event_list *list,
                                   struct yarn_arena *arena,
                                   const struct yarn_event_spec **ret_refused);
/* Beside them those of YARN_SCHED, as far as they may be opened. */
void yarn_hold_scheduling(struct yarn_hold *hold, struct yarn_arena *arena);
/* Removes the definitions. Idempotent. */
void yarn_hold_close(struct yarn_hold *hold);
