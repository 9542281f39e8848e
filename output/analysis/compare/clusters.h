/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which dumps are of one run of a program: those that bear one name of a run (YARN_RUN, which
 * `yarnprof record` sets), and a process with all that it forked, executed and became by exec, as
 * far as parents left dumps. A forked child names its parent, so siblings are of one run without
 * it, too; an executed program knows its parent's number alone, which is believed of a process that
 * was there, on that kernel and host. Without a name of the run, what a program executes by way of
 * one that left no dump is a run of its own. Samples of one run are alike in what differs from run
 * to run; so where there are several, they are what a change is judged by (diff.h). Threads: one
 * owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

/* More clusters than these are combined evenly: the interval hardly gains by more. */
enum { YARN_CLUSTERS_MAX = 64 };

struct yarn_cluster {
    double seconds; /* that it was recorded, of those that are looked at */
    double marks;   /* set in that time */
    double runs;    /* 1, or more where they are combined */
};

struct yarn_clusters {
    uint32_t *of_dump;             /* owned: of each dump, its cluster */
    struct yarn_cluster *clusters; /* owned array */
    size_t count;
    size_t nr_runs;      /* as many, or more than YARN_CLUSTERS_MAX */
    size_t nr_processes; /* images of one that followed each other by exec are one */
};

/* `from_ns`, `to_ns`: the time that is looked at. */
YARN_MUST_CHECK int yarn_clusters_build(const struct yarn_profile *profile, uint64_t from_ns,
                                        uint64_t to_ns, struct yarn_clusters *ret_clusters);
void yarn_clusters_fini(struct yarn_clusters *clusters);
