/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The blocked threads of a tree, for the event off-cpu: each process's are looked at by the
 * recording's sampler (recording/pipeline/off_cpu.h), all processes' in one round, and together
 * no more often than one process's would be. A process is followed from its first switch on, and
 * has a dump once one of its threads was seen blocked.
 *
 * Private to the tree. Threads: one. Signals: not safe.
 */
#pragma once

#include "output/yarnprof/outside/tree_state.h"

struct yarn_tree_waits yarn_tree_waits_of(const struct yarn_job *job);

/* A thread that ran already. */
void yarn_tree_waits_add(struct yarn_process_tree *tree, struct yarn_tree_process *process,
                         uint32_t tid);

/* Switch records may be missing. */
void yarn_tree_waits_lose(struct yarn_process_tree *tree, uint64_t time_ns);

/* With the recording as a whole. */
void yarn_tree_waits_stop(struct yarn_process_tree *tree, uint64_t now_ns);
void yarn_tree_waits_start(struct yarn_process_tree *tree);

/* A round, if one is due. All records before `seen_ns` have been read. */
void yarn_tree_waits_look(struct yarn_process_tree *tree, uint64_t seen_ns);

/* When the next one is due; UINT64_MAX: none is. */
uint64_t yarn_tree_waits_due_ns(const struct yarn_process_tree *tree);
