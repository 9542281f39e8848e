/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What record --jit sets so that runtimes write names of their generated code, and the files that
 * they leave in the temporary and the working folder for it. Threads: one.
 */
#pragma once

#include "output/analysis/load/sources.h"

/* Into the environment, beside what is there; reports what, and what it costs. */
YARN_MUST_CHECK int yarn_jit_set(void);

/* Files that the processes of these dumps left, and that are older than no dump's start: names are
 * in the dumps. */
void yarn_jit_clean_up(const struct yarn_sources *sources, uint64_t since_ns);
