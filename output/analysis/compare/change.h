/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Differences of sums of weights and how far they can be believed; the formulas stand in diff.h.
 * Threads: safe anywhere.
 */
#pragma once

#include "output/analysis/compare/diff.h"

/* `parts` of `wholes`, before and after: shares in percent, or what was spent a second. */
struct yarn_change yarn_change_of(enum yarn_diff_scale scale, const struct yarn_diff_sum parts[2],
                                  const struct yarn_diff_sum wholes[2],
                                  const struct yarn_diff_time times[2], bool is_by_runs);
