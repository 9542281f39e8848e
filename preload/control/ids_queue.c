/* SPDX-License-Identifier: Apache-2.0 */
#include "preload/control/ids_queue.h"

enum { FIRST = YARN_SLOT_READY };
/* Of a number: the change can be taken back, so a later one replaces it. */
enum { PASSING = 1, STEP = 2 };

static struct yarn_ids room[YARN_IDS_QUEUE_MAX];

static void drop_passing(struct yarn_ids_queue *queue, uint32_t before)
{
    for (size_t i = 0; i < YARN_IDS_QUEUE_MAX; i++) {
        uint32_t state = atomic_load(&queue->state[i]);
        if (state >= FIRST && state < before && (state - FIRST) & PASSING)
            atomic_compare_exchange_strong(&queue->state[i], &state, YARN_SLOT_FREE);
    }
}

int yarn_ids_queue_put(struct yarn_ids_queue *queue, bool is_passing)
{
    size_t at = yarn_slots_take(queue->state, YARN_IDS_QUEUE_MAX);
    if (at == YARN_IDS_QUEUE_MAX)
        return -EAGAIN;
    int err = yarn_ids_read(&room[at]);
    uint32_t number =
        atomic_fetch_add(&queue->nr_put, STEP) % (UINT32_MAX / 2) & ~(uint32_t)PASSING;
    uint32_t state = FIRST + number + is_passing;
    if (!err)
        drop_passing(queue, state);
    atomic_store(&queue->state[at], err ? YARN_SLOT_FREE : state);
    return err;
}

const struct yarn_ids *yarn_ids_queue_next(struct yarn_ids_queue *queue)
{
    for (;;) {
        size_t oldest = YARN_IDS_QUEUE_MAX;
        uint32_t least = UINT32_MAX;
        for (size_t i = 0; i < YARN_IDS_QUEUE_MAX; i++) {
            uint32_t state = atomic_load(&queue->state[i]);
            if (state < FIRST || state >= least)
                continue;
            least = state;
            oldest = i;
        }
        if (oldest == YARN_IDS_QUEUE_MAX)
            return NULL;
        /* Not where a later change has just replaced it. */
        if (atomic_compare_exchange_strong(&queue->state[oldest], &least, YARN_SLOT_BUSY))
            return &room[oldest];
    }
}

void yarn_ids_queue_free(struct yarn_ids_queue *queue, const struct yarn_ids *ids)
{
    atomic_store(&queue->state[ids - room], YARN_SLOT_FREE);
}
