/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Puts the names that a recording had no time for into its dump, from the files that were mapped:
 * then it can be read where they are not. Threads: one.
 */
#pragma once

#include "output/analysis/load/sources.h"

/* Of each that is one process with its END, and belongs to this user. The others, and those that
 * lack no name, are left alone; so is one for which something fails. */
void yarn_name_dumps(const struct yarn_sources *sources);
