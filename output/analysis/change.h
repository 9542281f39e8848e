/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Differences of counts and how far they can be believed; the formulas stand in diff.h.
 * Threads: safe anywhere.
 */
#pragma once

#include "output/analysis/diff.h"

/* `parts` of `wholes`, before and after; in percent. */
struct yarn_change yarn_change_of_shares(const struct yarn_diff_sum parts[2],
                                         const struct yarn_diff_sum wholes[2]);
struct yarn_change yarn_change_of_rates(const struct yarn_diff_sum parts[2],
                                        const struct yarn_diff_sum wholes[2],
                                        const double seconds[2]);
