/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * CPU time in the kernel that was not sampled, by process or by thread. A process's is in its
 * dump. A thread's is what its CPU time exceeds its samples by, scaled to that; what cannot be
 * known of a thread is its process's. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

struct yarn_kernel_time {
    uint32_t dump;
    uint32_t thread; /* YARN_DUMP_NONE: of the whole process, or of threads that are not known */
    uint64_t ns;
};

/* The event whose samples stand for CPU time: the first clock that was opened; YARN_DUMP_NONE. */
uint32_t yarn_kernel_time_event(const struct yarn_profile *profile);

/* The times that are not 0, the most first; *ret_list is the caller's to free. The profile has
 * threads where it is `by_thread`. -ENOMEM. */
YARN_MUST_CHECK int yarn_kernel_time_of(const struct yarn_profile *profile, bool by_thread,
                                        struct yarn_kernel_time **ret_list, size_t *ret_count);

/* Where an event of some dump was opened without the kernel: because that was not permitted,
 * not because the user chose it. */
bool yarn_kernel_is_refused(const struct yarn_profile *profile);

/* How to change that, one sentence. */
const char *yarn_kernel_remedy(void);

/* What of the two is sampled: "user and kernel", "user only", …; as most of the samples were. */
const char *yarn_kernel_word(const struct yarn_profile_dump *dump);
