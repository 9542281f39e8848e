/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/ids_queue.h"

enum { FREE, BUSY, FIRST };

static struct yarn_ids room[YARN_IDS_QUEUE_MAX];

int yarn_ids_queue_put(struct yarn_ids_queue *queue)
{
    for (size_t i = 0; i < YARN_IDS_QUEUE_MAX; i++) {
        uint32_t free = FREE;
        if (!atomic_compare_exchange_strong(&queue->state[i], &free, BUSY))
            continue;
        int err = yarn_ids_read(&room[i]);
        uint32_t number = atomic_fetch_add(&queue->nr_put, 1) % (UINT32_MAX / 2);
        atomic_store(&queue->state[i], err ? FREE : FIRST + number);
        return err;
    }
    return -EAGAIN;
}

const struct yarn_ids *yarn_ids_queue_next(struct yarn_ids_queue *queue)
{
    const struct yarn_ids *oldest = NULL;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < YARN_IDS_QUEUE_MAX; i++) {
        uint32_t state = atomic_load(&queue->state[i]);
        if (state < FIRST || state >= least)
            continue;
        least = state;
        oldest = &room[i];
    }
    return oldest;
}

void yarn_ids_queue_free(struct yarn_ids_queue *queue, const struct yarn_ids *ids)
{
    atomic_store(&queue->state[ids - room], FREE);
}

void yarn_ids_queue_forget(struct yarn_ids_queue *queue)
{
    /* What is as it should be is not written: each page written in a child is copied for it. */
    for (size_t i = 0; i < YARN_IDS_QUEUE_MAX; i++)
        if (atomic_load(&queue->state[i]) != FREE)
            atomic_store(&queue->state[i], FREE);
}
