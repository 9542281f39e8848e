/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/pipeline/queue.h"

static size_t bytes_of(unsigned nr_frames, unsigned nr_kernel)
{
    return sizeof(struct yarn_queued) + nr_frames * sizeof(struct yarn_frame) +
           nr_kernel * sizeof(uint64_t);
}

int yarn_queue_open(struct yarn_queue *queue, size_t bytes)
{
    queue->taken = 0;
    return yarn_arena_open(&queue->arena, bytes);
}

struct yarn_queued *yarn_queue_put(struct yarn_queue *queue, unsigned nr_frames, unsigned nr_kernel)
{
    if (yarn_queue_is_empty(queue)) {
        yarn_arena_rewind(&queue->arena, 0);
        queue->taken = 0;
    }
    struct yarn_queued *queued = yarn_arena_alloc(&queue->arena, bytes_of(nr_frames, nr_kernel),
                                                  alignof(struct yarn_queued));
    if (!queued)
        return NULL;
    queued->count = nr_frames;
    queued->nr_kernel = nr_kernel;
    queued->frame = (struct yarn_frame *)(queued + 1);
    queued->kernel = (uint64_t *)(queued->frame + nr_frames);
    return queued;
}

struct yarn_queued *yarn_queue_take(struct yarn_queue *queue)
{
    if (yarn_queue_is_empty(queue))
        return NULL;
    struct yarn_queued *queued = (void *)(queue->arena.base + queue->taken);
    queue->taken += bytes_of(queued->count, queued->nr_kernel);
    return queued;
}

void yarn_queue_close(struct yarn_queue *queue)
{
    yarn_arena_close(&queue->arena);
    queue->taken = 0;
}
