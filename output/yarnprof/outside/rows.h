/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a tree's processes were, also those without a sample: rows of programs and of processes for
 * one dump of the recording, and how many had no dump. Knows sums; does not know how processes are
 * followed (tree).
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "output/dump/writer.h"
#include "recording/account/child_times.h"

enum { YARN_TREE_PROGRAMS_MAX = 4096, YARN_TREE_PROCESSES_MAX = 10000 };

struct yarn_tree_rows {
    struct yarn_dump_tree_program *programs; /* owned; their texts are the tree's */
    struct yarn_tree_living {
        uint64_t processes, cpu_ns, sampled_ns;
    } * living;    /* owned: of each, what is seen alive until the next writing */
    bool *are_new; /* owned: not written as they are now */
    size_t nr_programs, max_programs;
    struct yarn_dump_tree_process *processes; /* owned: that are not written yet */
    size_t nr_processes, max_processes;
    size_t nr_listed; /* processes that were, or will be, written */
    size_t nr_living;
    struct yarn_dump_tree tree;      /* of this dump */
    struct yarn_child_times *silent; /* owned: of those without a dump */
};

YARN_MUST_CHECK int yarn_tree_rows_open(struct yarn_tree_rows *rows);

/* An image has ended. `is_silent`: it has no dump, and was to have one. Where there is no memory it
 * is missing. `off_ns`: of its CPU time, what passed while the recording was stopped. */
void yarn_tree_rows_add(struct yarn_tree_rows *rows, const struct yarn_dump_tree_process *process,
                        bool is_silent, uint64_t off_ns);

/* An image lives, at the next writing. */
void yarn_tree_rows_see(struct yarn_tree_rows *rows, const struct yarn_dump_tree_process *process);

/* What is new, into the dump. */
void yarn_tree_rows_write(struct yarn_tree_rows *rows, struct yarn_dump_writer *writer);

/* What was written stays in that dump: sums begin anew, for another. */
void yarn_tree_rows_begin_anew(struct yarn_tree_rows *rows);

/* Idempotent. */
void yarn_tree_rows_close(struct yarn_tree_rows *rows);
