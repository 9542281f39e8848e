/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The processes of a tree that is recorded, from the records of all cores in time order: births,
 * programs and ends make and end them, and each record goes to the process that it is about. Does
 * not know how records are had (outside).
 *
 * Threads: one. Signals: not safe.
 */
#pragma once

#include "output/yarnprof/outside/tree_state.h"

YARN_MUST_CHECK int yarn_process_tree_open(struct yarn_process_tree *tree,
                                           const struct yarn_job *job,
                                           const struct yarn_session *session);

/* The first process, which is about to execute a program. */
YARN_MUST_CHECK int yarn_process_tree_add_first(struct yarn_process_tree *tree, pid_t pid,
                                                uint64_t time_ns);

/* A process that runs already, whose events are on: with what it maps now, and no threads yet.
 * Nothing where it is known. */
YARN_MUST_CHECK int yarn_process_tree_add_running(struct yarn_process_tree *tree, pid_t pid);

/* A thread of it that runs already. */
YARN_MUST_CHECK int yarn_process_tree_add_thread(struct yarn_process_tree *tree, pid_t pid,
                                                 pid_t tid);

/* Whether the thread has all events: it was added, or is a child of one that had them by then.
 * Where that was still given them, one after the other, the child has some. */
bool yarn_process_tree_has_thread(const struct yarn_process_tree *tree, pid_t pid, pid_t tid);

/* Threads that were attached to as they ended have no end among the records. First those are found
 * that are gone, and of which no record was read: true where there are some. Then the records until
 * now are read, and those that are still without one have an end. */
bool yarn_process_tree_find_gone(struct yarn_process_tree *tree);
void yarn_process_tree_end_gone(struct yarn_process_tree *tree);

/* Receives the records of the tree. */
struct yarn_record_listener yarn_process_tree_listener(struct yarn_process_tree *tree);

/* After each pass over the rings: names and stores what was recorded until that time. */
void yarn_process_tree_store(struct yarn_process_tree *tree, uint64_t until_ns);

/* From now on nothing of the tree is sampled, and is again. After the records until then. */
void yarn_process_tree_pause(struct yarn_process_tree *tree, uint64_t now_ns,
                             enum yarn_dump_coverage_cause cause);
void yarn_process_tree_resume(struct yarn_process_tree *tree, uint64_t now_ns,
                              enum yarn_dump_coverage_cause cause);

/* What was stored goes to the files. */
void yarn_process_tree_flush(struct yarn_process_tree *tree);

/* A text at this moment, in the dump that has the tree. -ENOENT: no process has one yet. */
YARN_MUST_CHECK int yarn_process_tree_mark(struct yarn_process_tree *tree, const char *text);

/* Samples that are in dumps. */
uint64_t yarn_process_tree_samples(const struct yarn_process_tree *tree);

/* Whether a process lives beside the command: one that is known, and of whose end the record was
 * not lost. */
bool yarn_process_tree_has_descendants(const struct yarn_process_tree *tree);

/* Whether the command's own end was read: that is later than the births of its children. */
bool yarn_process_tree_has_seen_end(const struct yarn_process_tree *tree);

/* The status by which the command has ended, where it was not followed to its end; what still lives
 * is recorded no more. */
void yarn_process_tree_end(struct yarn_process_tree *tree, int status);

/* Idempotent. */
void yarn_process_tree_close(struct yarn_process_tree *tree);
