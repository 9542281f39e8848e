/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The processes of a tree that live, by their numbers.
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "output/yarnprof/outside/process.h"

enum { YARN_PROCESSES_BUCKETS = 1024 };

struct yarn_processes {
    struct yarn_tree_process *buckets[YARN_PROCESSES_BUCKETS]; /* owned */
    size_t count;
};

/* NULL: it is not known. */
struct yarn_tree_process *yarn_processes_find(const struct yarn_processes *processes, uint32_t pid);

/* Takes it over. */
void yarn_processes_add(struct yarn_processes *processes, struct yarn_tree_process *process);

/* Gives it back. */
void yarn_processes_remove(struct yarn_processes *processes,
                           const struct yarn_tree_process *process);

/* The one behind `process`, the first for NULL; NULL: there are no more. */
struct yarn_tree_process *yarn_processes_next(const struct yarn_processes *processes,
                                              const struct yarn_tree_process *process);
