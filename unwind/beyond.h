/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What lay beyond the copy of a sample's stack, read from the thread's live stack a moment after
 * the sample: believed where the return addresses right below the cut were still in their places
 * when the reading was over, so that the frames above were not left meanwhile. Any doubt, and it
 * was never read. README.md has the argument and the figures.
 * Bounded: 256 KiB a reading, the latest 32 chains of at most 1,024 frames each, 8,192 in all.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "unwind/walker.h"

enum {
    YARN_BEYOND_CHAINS = 32,
    YARN_BEYOND_CHAIN_FRAMES = 1024,
    YARN_BEYOND_FRAMES = 8192,
    YARN_BEYOND_BYTES = 256 * 1024,
};

struct yarn_beyond_chain {
    uint32_t tid;
    uint64_t time_ns; /* of its sample; 0: its frames are gone */
    bool is_complete;
    unsigned count;
    const struct yarn_join_frame *frame; /* the first is the one that was cut off */
};

struct yarn_beyond {
    int proc_self;                 /* borrowed */
    struct yarn_beyond_room *room; /* owned; NULL while closed */
    uint64_t nr_reads, nr_believed;
};

YARN_MUST_CHECK int yarn_beyond_open(struct yarn_beyond *beyond, int proc_self);

/* For a walk that was cut off, of the sample that `tid` gave at `time_ns`. True where the chain is
 * now known. The walk's frames and the walker's trail go on with what was read, believed or not. */
bool yarn_beyond_read(struct yarn_beyond *beyond, struct yarn_walk *walk, uint32_t tid,
                      uint64_t time_ns);

/* For a walk that was cut off some time ago, whose only frame is the one that was cut off. True
 * where the live stack has a call of its function in that place, by frames that reach the
 * outermost: those are then the walk's and the trail's. */
bool yarn_beyond_follow(struct yarn_beyond *beyond, struct yarn_walk *walk);

/* What is known beyond the frame that was cut off in this very sample; NULL: nothing. */
const struct yarn_beyond_chain *yarn_beyond_find(const struct yarn_beyond *beyond, uint32_t tid,
                                                 uint64_t time_ns,
                                                 const struct yarn_join_frame *cut);

/* Idempotent. */
void yarn_beyond_close(struct yarn_beyond *beyond);
