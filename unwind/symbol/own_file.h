/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Files by which a process describes its own code. They are in world-writable directories: only
 * files of its user, or of root, are used.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/sys/file.h"
#include "core/sys/target.h"

#define YARN_OWN_FILE_OURS UINT32_MAX /* the calling process's user */

/* A descriptor that the caller owns; -EPERM for what is not the user's or no plain file. */
YARN_MUST_CHECK int yarn_own_file_open(const struct yarn_target *target, const char *path,
                                       uint32_t user, struct yarn_file_info *ret_info);

/* By when all of it had been written, on CLOCK_MONOTONIC; at most a tick of the kernel late. */
uint64_t yarn_own_file_written_ns(const struct yarn_file_info *info);
