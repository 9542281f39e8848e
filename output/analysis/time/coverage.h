/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * When a dump's recording was stopped by the user, from the stops and starts that it stores: gaps
 * in which nothing was sampled, which no view may take for idle time. Threads: safe anywhere.
 */
#pragma once

#include "output/analysis/profile/profile.h"

struct yarn_coverage_gap {
    uint64_t from_ns, to_ns;
    uint64_t cpu_ns; /* of the host's threads in it; 0 where it has no end */
    bool has_end;    /* it was started again; else the gap lasts until the dump's end */
    uint32_t stopped_by, started_by; /* enum yarn_dump_coverage_cause */
};

/* The gap that begins with the i-th record; false where none does. */
bool yarn_coverage_gap_at(const struct yarn_profile_dump *dump, size_t i,
                          struct yarn_coverage_gap *ret_gap);

struct yarn_coverage_sum {
    uint64_t on_ns, stopped_ns, stopped_cpu_ns;
    uint64_t nr_spans; /* of on */
};

struct yarn_coverage_sum yarn_coverage_sum_of(const struct yarn_profile_dump *dump);
/* Over all its dumps: the time of processes that ran at once is added up. */
struct yarn_coverage_sum yarn_coverage_sum_of_all(const struct yarn_profile *profile);
