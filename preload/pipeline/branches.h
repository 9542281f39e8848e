/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From added-up branches to rows of the dump: gives their ends frames, with names. Why at the next
 * flush and not at once: one edge stands for thousands of branches. Code that was replaced
 * meanwhile has the new one's name.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/record/edges.h"
#include "preload/pipeline/stacks.h"

/* Stores all of them and forgets them. */
void yarn_branches_store(struct yarn_edges *edges, struct yarn_stack_store *stacks,
                         struct yarn_dump_writer *writer);
