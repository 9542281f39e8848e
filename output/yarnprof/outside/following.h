/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is recorded of a process of a tree, from its first sample to the end of its image; and the
 * dump that has the tree as a whole, that of the command where there is one.
 *
 * Private to the tree. Threads: one. Signals: not safe.
 */
#pragma once

#include "output/yarnprof/outside/tree_state.h"

/* The first failure is kept. */
void yarn_tree_note(struct yarn_process_tree *tree, const char *failure, int err);

/* One copy of a text for all processes; NULL: no memory. */
const char *yarn_tree_intern(struct yarn_process_tree *tree, const char *path);

/* With what was seen of it before; not its dump. False where it is not to be recorded. */
bool yarn_tree_follow(struct yarn_process_tree *tree, struct yarn_tree_process *process);

/* The same, and the dump of an image that is known, with the threads that it has. */
bool yarn_tree_begin_following(struct yarn_process_tree *tree, struct yarn_tree_process *process);

/* Before it is known what the image is, and while it has no dump, only of what needs none. */
void yarn_tree_feed(struct yarn_tree_process *process, const struct yarn_typed_record *record);

void yarn_tree_end_image(struct yarn_process_tree *tree, struct yarn_tree_process *process,
                         enum yarn_dump_end_reason reason, int status);

/* What the tree is up to now, into the dump that has it. */
void yarn_tree_write(struct yarn_process_tree *tree);
