/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a dump knows of when threads ran, for the log that the options of a view about it
 * give. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/load/loader.h"

/* Records were lost of a core: `time_ns` is when the next was written. */
struct yarn_sched_loss {
    uint64_t cpu, time_ns, from_ns;
};

/* Before the record has its effect on the dump. */
YARN_MUST_CHECK int yarn_loader_sched_switches(struct yarn_loader *loader,
                                               const struct yarn_dump_switches *record);
/* A sample of off-cpu, whose stack in the profile that is. */
YARN_MUST_CHECK int yarn_loader_sched_lock_sample(struct yarn_loader *loader,
                                                  const struct yarn_sample *sample, uint32_t stack);
YARN_MUST_CHECK int yarn_loader_sched_lost(struct yarn_loader *loader,
                                           const struct yarn_dump_lost *record);
/* When the dump is complete. */
YARN_MUST_CHECK int yarn_loader_sched_end(struct yarn_loader *loader);
