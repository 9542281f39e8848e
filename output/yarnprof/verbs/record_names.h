/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Names of a recording: what record --jit sets so that runtimes write those of their generated
 * code, the files that they leave for it, and the names that a recording had no time for, which are
 * put into its dump from the files that were mapped: then it can be read where they are not.
 * Threads: one.
 */
#pragma once

#include "output/analysis/load/sources.h"

/* Into the environment, beside what is there; reports what, and what it costs. `runtime`: that one
 * alone; NULL: all that can be set. */
YARN_MUST_CHECK int yarn_jit_set(const char *runtime);

/* Files that the processes of these dumps left, and that are older than no dump's start: names are
 * in the dumps. */
void yarn_jit_clean_up(const struct yarn_sources *sources, uint64_t since_ns);

/* Of each that is one process with its END, and belongs to this user. The others, and those that
 * lack no name, are left alone; so is one for which something fails. */
void yarn_name_dumps(const struct yarn_sources *sources);
