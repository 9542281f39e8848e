/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * When the threads of a tree came onto a core and left it, for `sched`: each process's in its own
 * dump, as from inside (recording/pipeline/switch_runs.h). Before there is one some are kept, and
 * where that are too many the latest; what was before is said to be unknown. A process has a dump
 * for these alone only where switch records were asked for.
 *
 * Private to the tree. Threads: one. Signals: not safe.
 */
#pragma once

#include "output/yarnprof/outside/tree_state.h"

/* A thread of a process without a dump comes onto a core, or leaves it. */
void yarn_tree_switches_keep(struct yarn_tree_process *process,
                             const struct yarn_typed_record *record);

/* Of a thread that has ended before there was a dump that could name it. */
void yarn_tree_switches_drop(struct yarn_tree_process *process, uint32_t tid);

/* The process has a dump from now on. */
void yarn_tree_switches_begin(const struct yarn_process_tree *tree,
                              struct yarn_tree_process *process);

/* Of its image there are none after this. */
void yarn_tree_switches_end(struct yarn_tree_process *process, uint64_t time_ns);

/* The kernel's times of the threads, if it is time to read them. */
void yarn_tree_switches_read_times(struct yarn_process_tree *tree, uint64_t now_ns);

/* Records are missing, of whatever kind. */
void yarn_tree_switches_lose(struct yarn_process_tree *tree, uint64_t time_ns);

/* There are none any more: they were too many. */
void yarn_tree_switches_cut(struct yarn_process_tree *tree);

/* With the recording as a whole. */
void yarn_tree_switches_stop(struct yarn_process_tree *tree, uint64_t now_ns);
void yarn_tree_switches_start(struct yarn_process_tree *tree, uint64_t now_ns);
