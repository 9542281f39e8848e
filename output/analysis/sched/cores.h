/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Who was on which core when, of all threads of the machine: as a source saw them come in. Numbers
 * only, as in sched_log.h. Threads: one owner at a time.
 */
#pragma once

#include "core/base/base.h"

/* A thread, by the source's number for it, or UINT32_MAX and the number that the kernel has for it:
 * 0 is that of the idle core. */
struct yarn_sched_comer {
    uint32_t owner, tid;
};

/* From then on it is not known who is there. */
#define YARN_SCHED_NOBODY_KNOWN ((struct yarn_sched_comer){UINT32_MAX, UINT32_MAX})

struct yarn_sched_arrival {
    uint64_t time_ns;
    uint32_t cpu;
    struct yarn_sched_comer who;
};

struct yarn_sched_cores {
    struct yarn_sched_arrival *list; /* owned array; sorted: by core, then time */
    size_t count, capacity;
};

/* In any order; two on one core never have one time. -ENOMEM. */
YARN_MUST_CHECK int yarn_sched_cores_add(struct yarn_sched_cores *cores,
                                         const struct yarn_sched_arrival *arrival);
void yarn_sched_cores_sort(struct yarn_sched_cores *cores);

/* `visit` for each part of a time on a core, sorted before; before the first it is nobody known. */
void yarn_sched_cores_between(const struct yarn_sched_cores *cores, uint32_t cpu, uint64_t from_ns,
                              uint64_t to_ns,
                              void (*visit)(void *self, struct yarn_sched_comer who, uint64_t ns),
                              void *self);
/* Idempotent. */
void yarn_sched_cores_fini(struct yarn_sched_cores *cores);
