/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The names in a folder, by raw system calls. Threads, signals: safe anywhere.
 */
#pragma once

#include "core/base/base.h"

/* False: enough. */
typedef bool (*yarn_folder_fn)(void *self, const char *name);

/* Calls `each` for every name in the open folder, . and .. among them, from its position on. 0 or a
 * negative errno. */
YARN_MUST_CHECK int yarn_folder_list(int fd, yarn_folder_fn each, void *self);

/* A descriptor that holds an advisory lock on the folder until it is closed. Waits at most 50 ms:
 * -EAGAIN where somebody else has it for longer. */
YARN_MUST_CHECK int yarn_folder_lock(const char *path);
