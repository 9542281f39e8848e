/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One mapped perf ring, read in place: records between data_tail and data_head, each possibly
 * split at the ring's end. Knows the ring's protocol; does not know what a record means.
 *
 * Order of memory (the kernel's side is in its perf ring buffer code): data_head is loaded with
 * acquire before any record is read; data_tail is stored with release after the last read of one,
 * because the kernel overwrites what lies before it.
 *
 * Threads: one reader at a time; the kernel writes at the same time. Signals: not safe.
 */
#pragma once

#include <linux/perf_event.h>

#include "core/base/span.h"

/* More than a record has that is no sample, but of a mapping or a text. */
enum { YARN_RING_ROOM_LEAST = 128 };

struct yarn_ring {
    struct perf_event_mmap_page *page; /* owned where the ring was opened, else borrowed */
    struct yarn_span data;             /* size is a power of two */
    uint64_t head; /* as seen by the last yarn_ring_begin; records before it are readable */
    uint64_t tail; /* of the next record; given to the kernel by yarn_ring_commit */
    bool may_skip; /* who writes may go on further on where all was read, and moves data_tail there
                    */
};

#define YARN_RING_CLOSED ((struct yarn_ring){.page = NULL})

/* Bytes that lie in a ring in one or two pieces. */
struct yarn_wrapped {
    struct yarn_span first, second;
};

struct yarn_ring yarn_ring_of(struct perf_event_mmap_page *page, const void *data, size_t size);

struct yarn_event;
/* Maps that of the event. -ENOMEM: the limit of locked memory. The second is idempotent. */
YARN_MUST_CHECK int yarn_ring_open(const struct yarn_event *event, size_t bytes,
                                   struct yarn_ring *ret_ring);
void yarn_ring_close(struct yarn_ring *ring);

/* Reads how far the kernel has written. */
void yarn_ring_begin(struct yarn_ring *ring);

/* The same; true where all of it was taken, and of a closed one. */
static inline bool yarn_ring_is_empty(struct yarn_ring *ring)
{
    if (ring->page)
        yarn_ring_begin(ring);
    return ring->head == ring->tail;
}

/* As of yarn_ring_begin: a record of any kind may have been lost for want of room. */
static inline bool yarn_ring_is_full(const struct yarn_ring *ring)
{
    return ring->data.size - (ring->head - ring->tail) < YARN_RING_ROOM_LEAST;
}

enum yarn_ring_next {
    YARN_RING_RECORD,
    YARN_RING_EMPTY,
    YARN_RING_BROKEN, /* the next header is invalid: pending records are dropped */
};

/* The next record with its header, in place, not yet taken. BROKEN has skipped to the head. */
enum yarn_ring_next yarn_ring_peek(struct yarn_ring *ring, struct perf_event_header *ret_header,
                                   struct yarn_wrapped *ret_record);

/* Takes the record that was peeked. Its bytes stay valid until the commit. */
void yarn_ring_take(struct yarn_ring *ring, const struct perf_event_header *header);

/* Gives everything that was taken back to the kernel. */
void yarn_ring_commit(struct yarn_ring *ring);

static inline size_t yarn_wrapped_size(const struct yarn_wrapped *bytes)
{
    return bytes->first.size + bytes->second.size;
}

/* [at, at + size) of it; empty where that does not lie inside. */
struct yarn_wrapped yarn_wrapped_sub(const struct yarn_wrapped *bytes, size_t at, size_t size);

/* A copy of size bytes at `at`; false, and nothing copied, where they do not lie inside. */
bool yarn_wrapped_read(const struct yarn_wrapped *bytes, size_t at, void *ret, size_t size);
