/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Entries of a timeline that do not fit into memory: runs of them, each in order, one behind the
 * other in a file that has no name (so that nothing remains of it, however the tool ends), and
 * taken back in the order of all. Memory is some entries a run.
 * Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/time/timeline_entry.h"

struct yarn_runs;

/* The file is in TMPDIR, else in /var/tmp, which is meant for large files, else in /tmp. */
YARN_MUST_CHECK int yarn_runs_new(enum yarn_timeline_order order, struct yarn_runs **ret_runs);
YARN_MUST_CHECK int yarn_runs_add(struct yarn_runs *runs, const struct yarn_timeline_entry *entries,
                                  size_t count);
/* After the last run is added. 1, 0 at the end, or a negative errno. Among equal ones those of the
 * earlier run come first. */
YARN_MUST_CHECK int yarn_runs_next(struct yarn_runs *runs, struct yarn_timeline_entry *ret_entry);
/* All in order, in one mapping of another such file, which outlives the runs; instead of taking
 * them. */
YARN_MUST_CHECK int yarn_runs_map(struct yarn_runs *runs,
                                  const struct yarn_timeline_entry **ret_mapped);
/* NULL is allowed. */
void yarn_runs_free(struct yarn_runs *runs);
