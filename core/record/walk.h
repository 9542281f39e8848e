/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A perf record, in one or two pieces, from front to back: fails as yarn_cursor does.
 *
 * Threads, signals: safe anywhere.
 */
#pragma once

#include "core/include/yarn/record.h"
#include "core/record/ring.h"

struct yarn_record_walk {
    const struct yarn_wrapped *bytes;
    size_t at, end;
    bool failed;
    /* Borrowed: the part that lies in both pieces is joined here, of which a record has one at
     * most. NULL where the record is in one piece. */
    uint8_t *room;
};

static inline size_t yarn_record_walk_left(const struct yarn_record_walk *walk)
{
    return walk->failed ? 0 : walk->end - walk->at;
}

/* `count` things of `each` bytes; empty where they are not there. */
static inline struct yarn_wrapped yarn_record_walk_take(struct yarn_record_walk *walk,
                                                        uint64_t count, size_t each)
{
    if (walk->failed || count > (walk->end - walk->at) / each) {
        walk->failed = true;
        return (struct yarn_wrapped){YARN_SPAN_EMPTY, YARN_SPAN_EMPTY};
    }
    struct yarn_wrapped part = yarn_wrapped_sub(walk->bytes, walk->at, (size_t)count * each);
    walk->at += (size_t)count * each;
    return part;
}

/* The same in one piece. */
static inline struct yarn_bytes yarn_record_walk_view(struct yarn_record_walk *walk, uint64_t count,
                                                      size_t each)
{
    struct yarn_wrapped part = yarn_record_walk_take(walk, count, each);
    size_t size = yarn_wrapped_size(&part);
    if (!part.second.size)
        return (struct yarn_bytes){part.first.data, size};
    (void)yarn_wrapped_read(&part, 0, walk->room, size);
    return (struct yarn_bytes){walk->room, size};
}

static inline void yarn_record_walk_read(struct yarn_record_walk *walk, void *ret, size_t size)
{
    if (walk->failed || size > walk->end - walk->at) {
        walk->failed = true;
        memset(ret, 0, size);
        return;
    }
    if (!yarn_span_read(walk->bytes->first, walk->at, ret, size))
        (void)yarn_wrapped_read(walk->bytes, walk->at, ret, size);
    walk->at += size;
}

static inline uint64_t yarn_record_walk_u64(struct yarn_record_walk *walk)
{
    uint64_t value;
    yarn_record_walk_read(walk, &value, sizeof value);
    return value;
}

static inline uint32_t yarn_record_walk_u32(struct yarn_record_walk *walk)
{
    uint32_t value;
    yarn_record_walk_read(walk, &value, sizeof value);
    return value;
}
