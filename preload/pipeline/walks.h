/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a sample's record to its frames: the unwinder over the stack copy, or the kernel's chain of
 * frame pointers, or the one address where it hit. Reads the record in its ring, in place.
 * Knows records and the unwinder; does not know names or dumps.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/record/record.h"
#include "preload/pipeline/queue.h"

struct yarn_walks {
    struct yarn_module_map *map;    /* borrowed */
    struct yarn_unwinder *unwinder; /* borrowed */
    uint32_t nr_copies, nr_cut;     /* of late: walked, cut off */
};

/* The frames of a record that is a sample, into what was reserved for them. A thread of the
 * kernel's own (io_uring) has none but the kernel's. */
void yarn_walks_fill(struct yarn_walks *walks, const struct yarn_record *record,
                     struct yarn_queued *queued);

/* More of the copies of late ended before their stacks than may be. */
bool yarn_walks_are_cut(const struct yarn_walks *walks);
