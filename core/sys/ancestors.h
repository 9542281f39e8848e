/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The processes that the calling one descends from, as far as they live, and what they have mapped.
 * Threads: safe anywhere. Signals: not safe.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"

/* By the path of its executable. */
typedef bool yarn_ancestor_fn(const void *self, const char *exe);

/* Whether the environment that it was executed with has the word. False, too, where that cannot be
 * read. `word` has less than 4096 bytes. */
bool yarn_ancestor_was_given(pid_t pid, const char *word);

/* Whether one of them has mapped a file of that name and is `wanted`. One whose files cannot be
 * read is none. */
bool yarn_ancestors_have_mapped(const char *file_name, yarn_ancestor_fn *wanted, const void *self);

struct yarn_ancestor {
    pid_t pid;
    uint64_t birth_ns; /* since boot, by the kernel's ticks: the same for whoever asks */
};

/* The topmost process that `pid` descends from, by way of `parent`, through such that have all
 * mapped a file of that name or were given it; itself where the parent has not. */
struct yarn_ancestor yarn_ancestors_root(pid_t pid, pid_t parent, const char *file_name);
