/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first milliseconds of a process. Most children exec or exit immediately, most programs that a
 * build or a script executes end within a period of CPU time; attaching to them would cost more
 * than they do. So the reader sleeps first, until a command, an exit or exec of the host, its first
 * thread, or until it is due: a child after 5 ms, a program when it has used one period of CPU
 * time, at most 1 ms, or has waited for 100 ms.
 *
 * A child that ends before the start, or without a dump, adds its CPU time to the child times of
 * its parent.
 *
 * Threads: leave and return on host threads, the others on the reader. Signals: safe.
 */
#pragma once

#include "preload/control/shared.h"

/* By the reader, first: waits if the start is deferred. False where the process is ending and there
 * is nothing to do. */
bool yarn_deferred_start_wait(struct yarn_recorder *recorder);

/* In a process whose memory is a copy of another recorder's, or nobody's yet: it holds nothing. */
void yarn_deferred_start_claim(struct yarn_recorder *recorder);

/* A forked child's CPU time is the recording's, or the parent's, from its birth on; not where
 * another recording of the process had its part before. */
bool yarn_deferred_start_counts_for_parent(struct yarn_recorder *recorder);

/* By the reader, once the events are on: from now on children add their CPU time to this
 * process's. What the process has used until now, a program since the library was loaded, goes into
 * the recording as missed, unless it begins stopped. */
void yarn_deferred_start_end(struct yarn_recorder *recorder);

/* By the reader, before the recording closes or the host execs: where there is no dump, adds the
 * CPU time of the process and its children to the parent's child times. The second undoes it after
 * a failed exec. */
void yarn_deferred_start_add_to_parent(struct yarn_recorder *recorder);
void yarn_deferred_start_subtract_from_parent(struct yarn_recorder *recorder);

/* The process exits, and nothing of it will be in a dump: its time so far is the parent's. */
void yarn_deferred_start_charge(struct yarn_recorder *recorder);

/* The process exits (`for_good`) or execs. True where it is not recorded: its time was added, and
 * there is nothing more to do. False, too, where its dump has something to say though nothing was
 * sampled, marks or the time of its children: then it begins. */
bool yarn_deferred_start_leave(struct yarn_recorder *recorder, bool for_good);

/* The process ends without a dump. Removes the names that record --jit has made its runtime write:
 * nobody else knows of them. */
void yarn_deferred_start_remove_names(const struct yarn_recorder *recorder);

/* The exec failed. */
void yarn_deferred_start_return(struct yarn_recorder *recorder);
