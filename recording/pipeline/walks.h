/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * From a sample's record to its frames: by the unwinder and the stack copy, or the kernel's
 * frame-pointer call chain, or the sampled address alone. Reads the record in its ring, in place.
 * Knows records and the unwinder; does not know names or dumps.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/record/record.h"
#include "recording/pipeline/queue.h"

struct yarn_walks {
    struct yarn_module_map *map;    /* borrowed */
    struct yarn_unwinder *unwinder; /* borrowed */
    uint32_t nr_copies, nr_cut;     /* of late: walked, cut off */
    bool has_user_part;             /* of any sample so far */
    bool has_narrow;                /* likewise: of 32-bit code */
};

/* Writes the frames of a sample record to the reserved space. A kernel thread (io_uring) and an
 * exec that has no stack yet have only kernel frames. */
void yarn_walks_fill(struct yarn_walks *walks, const struct yarn_typed_record *record,
                     struct yarn_queued *queued);

/* Too many of the recent copies were shorter than their stacks. */
bool yarn_walks_are_cut(const struct yarn_walks *walks);
