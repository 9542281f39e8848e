/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files by which the process describes its own code. They are in world-writable directories: only
 * files of this process's user, or of root, are used.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/sys/file.h"

/* A descriptor that the caller owns; -EPERM for what is not ours or no plain file. */
YARN_MUST_CHECK int yarn_own_file_open(const char *path, struct yarn_file_info *ret_info);
