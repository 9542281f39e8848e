/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How much memory this run of the tool may take for what it reads: one limit for all files and all
 * that a view derives from them, kept by the kernel (RLIMIT_DATA), so that no dump, however it was
 * made, takes more. Threads: one.
 */
#pragma once

#include "core/base/base.h"

/* The value of --memory. -EINVAL, with what is expected. */
YARN_MUST_CHECK int yarn_memory_take(const char *value, const char **ret_right);

/* From here on. Why not from the start: a command that is run has no limit. Idempotent. */
void yarn_memory_bound(void);
/* What a program that is run had before. */
void yarn_memory_unbound(void);

/* A sentence for a negative errno, of which some say that the limit is reached. */
const char *yarn_memory_why(int err);
