/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What earlier samples taught about the outer frames of a thread: from a frame to its caller's.
 * A frame is told by its function and its place on the stack, so that any sample of the same
 * invocation teaches, wherever in the function it stood. A stack that the copy cut off goes on
 * from here; a frame that changed its caller lately is doubted, and no answer is given.
 * Bounded: 32,768 frames at most, newer ones displace older; what is long past is not believed.
 * Knows no registers, rules or modules.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/base.h"

struct yarn_join_frame {
    uint64_t ip;       /* 0: behind the outermost frame */
    uint64_t place;    /* what stays the same while the frame lives; a caller's is greater */
    uint32_t function; /* the same at each ip of it */
    bool is_exact;     /* interrupted at ip, which is no return address */
};

struct yarn_join_tables;

struct yarn_join {
    struct yarn_join_tables *tables; /* owned; NULL while closed */
    unsigned sets_log2;              /* of their sets in use: more as more is learnt */
    uint32_t nr_walks;
};

YARN_MUST_CHECK int yarn_join_open(struct yarn_join *join);

/* Frames of one walk, leaf first. `is_complete`: the last has no caller. */
void yarn_join_learn(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                     unsigned count, bool is_complete);

/* Frames that no walk met: what else was within it is not known to have ended. After a walk only.
 */
void yarn_join_add(struct yarn_join *join, uint32_t tid, const struct yarn_join_frame *frames,
                   unsigned count, bool is_complete);

/* Appends to frames[0..count), whose last frame was cut off, until the outermost. Returns the new
 * count; `count` itself where the chain is not known to its end or does not fit. */
unsigned yarn_join_complete(const struct yarn_join *join, uint32_t tid,
                            struct yarn_join_frame *frames, unsigned count, unsigned capacity);

/* Idempotent. */
void yarn_join_close(struct yarn_join *join);
