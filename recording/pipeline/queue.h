/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Samples that are unwound and not yet named and stored, first in, first out. Unwinding has to be
 * quick, because the record stays in the kernel's ring until it is done; naming may take a while
 * (the first name of a module reads its symbol tables), so it happens after the rings are empty. A
 * walk writes its frames directly into the queue.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/record/record.h"
#include "output/dump/types.h"
#include "unwind/unwinder.h"

enum {
    YARN_KERNEL_FRAMES_MAX = 128, /* the kernel's default of perf_event_max_stack is 127 */
    YARN_RAW_MAX = 8192,          /* PERF_MAX_TRACE_SIZE */
};

struct yarn_queued {
    struct yarn_sample sample;  /* without its stack; `raw` lies behind the frames */
    unsigned nr_kernel;         /* frames of the kernel, above the others */
    struct yarn_frames *frames; /* in the queue, of which `count` may be looked at */
    uint64_t kernel[];          /* addresses to look up, innermost first */
};

struct yarn_queue {
    struct yarn_arena arena;
    size_t taken; /* offset of the next to take */
};

#define YARN_QUEUE_CLOSED ((struct yarn_queue){.taken = 0})

void yarn_queue_open(struct yarn_queue *queue, size_t bytes);

/* Room for the longest sample, without frames; NULL where there is none. */
struct yarn_queued *yarn_queue_reserve(struct yarn_queue *queue);

/* The kernel's frames are in it: space for the others, after them. */
struct yarn_frames *yarn_queued_frames(struct yarn_queued *queued);

/* The frames are in it: a tracepoint's fields behind them. */
void yarn_queued_set_raw(struct yarn_queued *queued, const struct yarn_bytes *raw);

/* The room that was reserved is filled. */
void yarn_queue_commit(struct yarn_queue *queue, struct yarn_queued *queued);

/* The oldest; valid until the next reserve from the emptied queue. NULL where there is none. */
struct yarn_queued *yarn_queue_take(struct yarn_queue *queue);

/* The one behind it; NULL where there is none. */
struct yarn_queued *yarn_queue_next(const struct yarn_queue *queue,
                                    const struct yarn_queued *queued);

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
