/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The processes that the calling one descends from, as far as they live, and what they have mapped.
 * Threads: safe anywhere. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

/* By the path of its executable. */
typedef bool yarn_ancestor_fn(const void *self, const char *exe);

/* Whether one of them has mapped a file of that name and is `wanted`. One whose files cannot be
 * read is none. */
bool yarn_ancestors_have_mapped(const char *file_name, yarn_ancestor_fn *wanted, const void *self);
