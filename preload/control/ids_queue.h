/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A queue of credentials from host threads, which have just changed their own, to the reader, which
 * has to assume the same, in the order of the changes. A slot belongs to its writer until it is
 * complete: a writer that is never resumed costs a slot and nothing else.
 *
 * Threads: any puts, the reader takes. Signals: putting is safe.
 */
#pragma once

#include "core/base/slots.h"
#include "core/sys/ids.h"

enum { YARN_IDS_QUEUE_MAX = 8 };

/* One per process. The credentials are stored elsewhere: a child reads the states of its copy.
 */
struct yarn_ids_queue {
    _Atomic uint32_t nr_put;
    _Atomic uint32_t state[YARN_IDS_QUEUE_MAX]; /* free, being written, or which one it is */
};

/* Puts the ids of the calling thread; with `is_passing` they may give way to later ones. -EAGAIN
 * where no slot is free; the errors of yarn_ids_read. */
YARN_MUST_CHECK int yarn_ids_queue_put(struct yarn_ids_queue *queue, bool is_passing);

/* The oldest one, which belongs to the caller until it releases it; NULL: none. */
const struct yarn_ids *yarn_ids_queue_next(struct yarn_ids_queue *queue);
void yarn_ids_queue_free(struct yarn_ids_queue *queue, const struct yarn_ids *ids);
