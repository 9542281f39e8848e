/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Metric groups of `yarnprof stat`: their files are found and read, their events become part of
 * what is counted, and the formulas get values. Threads: one.
 */
#pragma once

#include "output/metrics/metric_file.h"
#include "output/yarnprof/verbs/stat_run.h"

struct yarn_stat_groups {
    struct yarn_arena *arena; /* borrowed */
    struct yarn_stat_group *groups;
    size_t nr_groups;
    struct yarn_stat_metric *metrics; /* of all groups, in order */
    size_t nr_metrics;
    bool need_threads; /* a formula does */
};

/* `names`: a comma list. `folder`: looked into first; NULL: none. An exit status where one is not
 * there or has a fault, of which it complains itself; -1: all is well. */
YARN_MUST_CHECK int yarn_stat_groups_load(struct yarn_stat_groups *groups, const char *names,
                                          const char *folder, struct yarn_stat_events *events);

/* Fills the metrics from rows of a stretch, with the key of each. */
void yarn_stat_groups_evaluate(struct yarn_stat_groups *groups, const struct yarn_stat_row *rows,
                               const uint32_t *keys, size_t count,
                               const struct yarn_stat_stretch *stretch);
