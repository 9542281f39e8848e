/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The programs of the trees that were recorded from outside, over all dumps, by the names of their
 * files: also those whose processes were too short for a sample. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

struct yarn_program {
    const char *name; /* of its file; owned by the profile's strings */
    uint64_t processes, silent, unknown;
    uint64_t cpu_ns, sampled_ns;
};

struct yarn_programs {
    struct yarn_program *programs; /* owned; the most CPU time first */
    size_t count;
    struct yarn_program all; /* sums */
    uint64_t counted_ns;     /* by the clock event's own count; 0: not known */
    uint64_t stray;          /* samples of processes whose birth was lost */
};

/* -ENOMEM. */
YARN_MUST_CHECK int yarn_programs_of(const struct yarn_profile *profile,
                                     struct yarn_programs *ret_programs);
void yarn_programs_fini(struct yarn_programs *programs);
