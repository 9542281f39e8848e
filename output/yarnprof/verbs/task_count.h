/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How many threads a command and its children have, from its exec on: the kernel's records of each
 * that is made and each that ends, in a small ring a cpu. Threads: one.
 */
#pragma once

#include <sys/types.h>

#include "core/base/arena.h"
#include "core/record/ring.h"

/* Records of 1,600 threads a cpu until they are taken. */
#define YARN_TASK_RING_BYTES YARN_KIB(128)
#define YARN_TASK_POLL_NS (YARN_NS_PER_SECOND / 10)

struct yarn_task_count {
    struct yarn_task_ring {
        int fd;
        struct yarn_ring ring;
    } * rings; /* of the arena */
    size_t nr_rings;
    struct yarn_arena arena;
    uint64_t all, ended;   /* from the exec on */
    uint64_t ended_before; /* the stretch */
    bool is_unknown;       /* the kernel refused the rings, or they were full */
};

#define YARN_TASK_COUNT_CLOSED ((struct yarn_task_count){.rings = NULL})

/* Of a process that waits for its exec. What is refused makes the count unknown. */
void yarn_task_count_open(struct yarn_task_count *count, pid_t pid);
/* Takes what the rings have; to be called each YARN_TASK_POLL_NS. */
void yarn_task_count_poll(struct yarn_task_count *count);
/* All that there ever were, and those that were alive at any time of the stretch, after which the
 * next begins. NAN: unknown. */
double yarn_task_count_all(struct yarn_task_count *count);
double yarn_task_count_end_stretch(struct yarn_task_count *count);
/* Idempotent. */
void yarn_task_count_close(struct yarn_task_count *count);
