/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The owner of the memory. Several processes may have the library's data: a fork, or a clone
 * without CLONE_VM, has a copy of it; vfork, posix_spawn and clone with CLONE_VM let another
 * process run on the very same. Neither is the process that claimed it, and numbers do not say: a
 * child in a PID namespace of its own is process 1, as the first process of a container is.
 *
 * So the claim is a word in a page that the kernel zeroes in copies (MADV_WIPEONFORK); and of the
 * tasks that share the page those belong to the process that have what the kernel clears in every
 * new task: the head of its robust list, which the C library sets for each of its threads and in no
 * other child.
 *
 * Threads, signals: safe anywhere, in children of every kind, too.
 */
#pragma once

#include "core/base/base.h"

/* The calling process makes its memory its own. Without `asks_list`, and in a C library that sets
 * no list for the caller, process numbers alone say who shares it. */
YARN_MUST_CHECK int yarn_owner_claim(bool asks_list);

/* The same in a copy, a child after fork; false where it has an owner already. */
bool yarn_owner_inherit(void);

/* By memory alone: true for whatever runs on the memory that was claimed, false in copies. */
bool yarn_owner_has_memory(void);

/* The caller is a thread of the process that claimed it. A thread that the C library does not know
 * is one, too. */
bool yarn_owner_is_caller(void);
