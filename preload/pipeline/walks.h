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
#include "core/session/plan.h"
#include "preload/pipeline/queue.h"
#include "unwind/unwinder.h"

enum { YARN_KERNEL_FRAMES_MAX = 128 }; /* the kernel's default of perf_event_max_stack is 127 */

struct yarn_walks {
    struct yarn_module_map *map;             /* borrowed */
    struct yarn_unwinder *unwinder;          /* borrowed */
    bool is_asked;                           /* for stacks: one that did not come is a cut one */
    uint32_t nr_copies, nr_cut;              /* of late: walked, cut off */
    struct yarn_frames *frames;              /* owned: room for the latest walk */
    unsigned nr_kernel;                      /* frames of the kernel in it, above those */
    uint64_t kernel[YARN_KERNEL_FRAMES_MAX]; /* addresses to look up, innermost first */
};

/* `spec` is that of the session that the records are from. */
YARN_MUST_CHECK int yarn_walks_open(struct yarn_walks *walks, struct yarn_module_map *map,
                                    struct yarn_unwinder *unwinder,
                                    const struct yarn_session_spec *spec);

/* Of a record that is a sample. The frames, and the kernel's in `walks`, are valid until the next
 * call. A thread of the kernel's own (io_uring) has none but the kernel's. */
const struct yarn_frames *yarn_walks_of(struct yarn_walks *walks, const struct yarn_record *record);

/* More of the copies of late ended before their stacks than may be. */
bool yarn_walks_are_cut(const struct yarn_walks *walks);

/* Idempotent. */
void yarn_walks_close(struct yarn_walks *walks);
