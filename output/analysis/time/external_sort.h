/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * An external sort, for entries of a timeline that do not fit into memory: runs of them, each in
 * order, one behind the other in a file that has no name (so that nothing remains of it, however
 * the tool ends), and taken back in the order of all. Memory is some entries a run.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/time/timeline_entry.h"

struct yarn_external_sort;

YARN_MUST_CHECK int yarn_external_sort_new(enum yarn_timeline_order order,
                                           struct yarn_external_sort **ret_sort);
YARN_MUST_CHECK int yarn_external_sort_add(struct yarn_external_sort *sort,
                                           const struct yarn_timeline_entry *entries, size_t count);
/* After the last run is added. 1, 0 at the end, or a negative errno. Among equal ones those of the
 * earlier run come first. */
YARN_MUST_CHECK int yarn_external_sort_next(struct yarn_external_sort *sort,
                                            struct yarn_timeline_entry *ret_entry);
/* All in order, in one mapping of another such file, which outlives the sort; instead of taking
 * them. */
YARN_MUST_CHECK int yarn_external_sort_map(struct yarn_external_sort *sort,
                                           const struct yarn_timeline_entry **ret_mapped);
/* NULL is allowed. */
void yarn_external_sort_free(struct yarn_external_sort *sort);
