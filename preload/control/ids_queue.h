/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rights on their way from host threads, which have just changed their own, to the reader, which is
 * to take the same, in the order of the changes. A place is its writer's until it is whole: one
 * that never comes back costs a place and nothing else.
 *
 * Threads: any puts, the reader takes. Signals: putting is safe.
 */
#pragma once

#include <stdatomic.h>

#include "core/sys/ids.h"

enum { YARN_IDS_QUEUE_MAX = 8 };

/* One in a process. The rights themselves lie elsewhere: a child looks at the states of its copy.
 */
struct yarn_ids_queue {
    _Atomic uint32_t nr_put;
    _Atomic uint32_t state[YARN_IDS_QUEUE_MAX]; /* free, being written, or which one it is */
};

/* Those of the calling thread. -EAGAIN where there is no place; what yarn_ids_read says. */
YARN_MUST_CHECK int yarn_ids_queue_put(struct yarn_ids_queue *queue);

/* The oldest that waits, to be given back; NULL: none. */
const struct yarn_ids *yarn_ids_queue_next(struct yarn_ids_queue *queue);
void yarn_ids_queue_free(struct yarn_ids_queue *queue, const struct yarn_ids *ids);

/* In a child after fork. */
void yarn_ids_queue_forget(struct yarn_ids_queue *queue);
