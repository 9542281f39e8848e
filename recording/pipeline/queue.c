/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/pipeline/queue.h"

static const size_t longest = sizeof(struct yarn_queued) +
                              YARN_KERNEL_FRAMES_MAX * sizeof(uint64_t) +
                              sizeof(struct yarn_frames) + YARN_RAW_MAX;

void yarn_queue_open(struct yarn_queue *queue, size_t bytes)
{
    queue->taken = 0;
    yarn_arena_open(&queue->arena, bytes);
}

struct yarn_queued *yarn_queue_reserve(struct yarn_queue *queue)
{
    if (yarn_queue_is_empty(queue)) {
        yarn_arena_rewind(&queue->arena, 0);
        queue->taken = 0;
    }
    struct yarn_queued *queued =
        yarn_arena_alloc(&queue->arena, longest, alignof(struct yarn_queued));
    if (queued)
        *queued = (struct yarn_queued){.nr_kernel = 0};
    return queued;
}

struct yarn_frames *yarn_queued_frames(struct yarn_queued *queued)
{
    queued->frames = (struct yarn_frames *)(queued->kernel + queued->nr_kernel);
    queued->frames->count = 0;
    return queued->frames;
}

void yarn_queued_set_raw(struct yarn_queued *queued, const struct yarn_bytes *raw)
{
    void *to = queued->frames->frame + queued->frames->count;
    size_t size = yarn_size_min(raw->size, YARN_RAW_MAX);
    (void)yarn_span_read(yarn_span_of(raw->data, size), 0, to, size);
    queued->sample.raw = (struct yarn_bytes){to, size};
}

/* Behind it. */
static size_t end_of(const struct yarn_queue *queue, const struct yarn_queued *queued)
{
    const size_t align = alignof(struct yarn_queued);
    size_t end =
        (size_t)((uint8_t *)(queued->frames->frame + queued->frames->count) - queue->arena.base) +
        queued->sample.raw.size;
    return (end + align - 1) / align * align;
}

void yarn_queue_commit(struct yarn_queue *queue, struct yarn_queued *queued)
{
    yarn_arena_rewind(&queue->arena, end_of(queue, queued));
}

struct yarn_queued *yarn_queue_take(struct yarn_queue *queue)
{
    if (yarn_queue_is_empty(queue))
        return NULL;
    struct yarn_queued *queued = (void *)(queue->arena.base + queue->taken);
    queue->taken = end_of(queue, queued);
    return queued;
}

struct yarn_queued *yarn_queue_next(const struct yarn_queue *queue,
                                    const struct yarn_queued *queued)
{
    size_t at = end_of(queue, queued);
    return at < queue->arena.used ? (void *)(queue->arena.base + at) : NULL;
}

void yarn_queue_close(struct yarn_queue *queue)
{
    yarn_arena_close(&queue->arena);
    queue->taken = 0;
}
