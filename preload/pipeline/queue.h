/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples that are unwound and not yet named and stored, first in, first out. Unwinding has to be
 * quick, because the record stays in the kernel's ring until it is done; naming may take a while
 * (the first name of a module reads its symbol tables), so it happens after the rings are empty.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "unwind/unwinder.h"

struct yarn_queued {
    uint64_t time_ns;
    uint64_t weight;
    uint32_t event, tid, cpu;
    enum yarn_unwind_end end;
    unsigned count;           /* of frames */
    unsigned nr_kernel;       /* frames of the kernel, above those */
    uint64_t *kernel;         /* in the queue: their addresses to look up, innermost first */
    struct yarn_frame *frame; /* in the queue; their modules are the map's, which keeps them */
};

struct yarn_queue {
    struct yarn_arena arena;
    size_t taken; /* offset of the next to take */
};

#define YARN_QUEUE_CLOSED ((struct yarn_queue){.taken = 0})

YARN_MUST_CHECK int yarn_queue_open(struct yarn_queue *queue, size_t bytes);

/* Room for a sample with so many frames, to be filled by the caller; NULL where there is none. */
struct yarn_queued *yarn_queue_put(struct yarn_queue *queue, unsigned nr_frames,
                                   unsigned nr_kernel);

/* The oldest; valid until the next put into the emptied queue. NULL where there is none. */
struct yarn_queued *yarn_queue_take(struct yarn_queue *queue);

static inline bool yarn_queue_is_empty(const struct yarn_queue *queue)
{
    return queue->taken == queue->arena.used;
}

/* More than half of the room is taken. */
static inline bool yarn_queue_is_filling(const struct yarn_queue *queue)
{
    return queue->arena.used > queue->arena.cap / 2;
}

/* Idempotent. */
void yarn_queue_close(struct yarn_queue *queue);
