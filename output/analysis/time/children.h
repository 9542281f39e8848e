/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * CPU time of children that no dump of a profile has: they ended before they were recorded, or
 * could not be, or their dumps were not read; with what passed while the others were loaded and
 * ended. Each process that a run began with says what all that it waited for have used, as the
 * kernel has counted it; of what began while it was there all may be its children. Threads: one
 * owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

/* Of all runs. Too little where a process was not waited for, or where that with which the run
 * began left no dump. */
uint64_t yarn_children_unread_ns(const struct yarn_profile *profile);
