/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which dumps are of one run of a program: those that bear one name of a run (YARN_RUN, which
 * `yarnprof record` sets), and no others; of those without such a name what descends from one
 * process through parents that all had yarn loaded, whether they left dumps or not. A dump that
 * does not say with which process it began (root_pid) is of its parent's run, as far as that left a
 * dump: of an executed program its number is believed of a process that was there, on that kernel
 * and host. Samples of one run are alike in what differs from run
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
