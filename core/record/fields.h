/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The fields of a perf record, where the attr of its event puts them: the one reading of what
 * perf_event_open(2) documents as bytes, for the records of a session (record.h) and for those of
 * libyarn's callers. Knows every field and kind up to Linux 6.18. Bytes are untrusted.
 *
 * Threads, signals: pure functions over values; safe anywhere.
 */
#pragma once

#include "core/include/yarn/record.h"
#include "core/record/ring.h"

/* A perf record, in one or two pieces, from front to back: fails as yarn_cursor does. */

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

/* All that `record->fields` says a sample has, the walk being at the first. `is_bare`: the kernel
 * had no branches, and left out what attr requests beside them. *ret_stack is the valid part of the
 * copy in place, record->stack the same unless it is in two pieces. */
void yarn_record_take_sample(struct yarn_record_walk *walk, const struct perf_event_attr *attr,
                             bool is_bare, struct yarn_record *record,
                             struct yarn_wrapped *ret_stack);

/* The last words of all other records, by `record->fields`: the walk is left with the body. */
void yarn_record_take_identity(struct yarn_record_walk *walk, struct yarn_record *record);

/* The kinds of a later kernel are not known. */
bool yarn_record_body_is_known(uint32_t kernel_type);

/* Whether what is left is a body of that kind: as long as it must be and, `is_exact`, no longer.
 * One that is not known may have any length. */
YARN_MUST_CHECK bool yarn_record_body_fits(struct yarn_record_walk walk, uint32_t kernel_type,
                                           uint64_t read_format, bool is_exact);
