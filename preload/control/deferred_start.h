/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first milliseconds of a child after fork. Most children exec or exit at once; attaching to
 * them would cost more than they do. So the reader of a child only sleeps; the host ends that by
 * a command, by its exit or exec, or it ends by time.
 *
 * Who leaves before the start, or leaves no dump, adds its CPU time to the charges of the process
 * above.
 *
 * Threads: leave and return on host threads, the others on the reader. Signals: safe.
 */
#pragma once

#include "preload/control/shared.h"

/* By the reader, first of all: false where the process is leaving and nothing is to be done. At
 * once where the start is not deferred. */
bool yarn_deferred_start_wait(struct yarn_recorder *recorder);

/* By the reader: the CPU time that a child after fork has used by itself; 0 for other processes. */
uint64_t yarn_deferred_start_used_ns(struct yarn_recorder *recorder);

/* By the reader, once the events are on: from now on children are charged here. What the process
 * has used until now goes into the recording as missed, unless it begins stopped. */
void yarn_deferred_start_end(struct yarn_recorder *recorder);

/* By the reader, before the recording closes or the host execs: where there is no dump, charges
 * above what the process and its children have used. The second where the exec failed. */
void yarn_deferred_start_charge(struct yarn_recorder *recorder);
void yarn_deferred_start_refund(struct yarn_recorder *recorder);

/* The process exits (`for_good`) or execs. True where it is not recorded: it was charged, and there
 * is nothing more to do. */
bool yarn_deferred_start_leave(struct yarn_recorder *recorder, bool for_good);

/* The exec failed. */
void yarn_deferred_start_return(struct yarn_recorder *recorder);
