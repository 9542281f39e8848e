/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof info` prints of each dump, as text and as JSON. Threads: one.
 */
#pragma once

#include "output/analysis/profile/profile.h"
#include "output/yarnprof/io/out.h"

/* Threads of a dump lie together: [begin, end). */
struct yarn_info_threads {
    size_t begin, end;
};

struct yarn_info_threads yarn_info_threads_of(const struct yarn_profile *profile, size_t dump);

/* The host's CPU time: the recorder's own sum or, where a cut dump has none, a clock's count. */
uint64_t yarn_info_cpu_ns(const struct yarn_profile_dump *dump);

/* The second of the two forms is that of the first's file. */
void yarn_info_print(const struct yarn_profile *profile, const struct yarn_out *out);
void yarn_info_json(const struct yarn_profile *profile, const struct yarn_out *out);
