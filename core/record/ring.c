/* SPDX-License-Identifier: Apache-2.0 */
#include "core/record/ring.h"

#include "core/event/event.h"

struct yarn_ring yarn_ring_of(struct perf_event_mmap_page *page, const void *data, size_t size)
{
    return (struct yarn_ring){
        .page = page,
        .data = yarn_span_of(data, size),
        .head = page->data_tail,
        .tail = page->data_tail,
    };
}

int yarn_ring_open(const struct yarn_event *event, size_t bytes, struct yarn_ring *ret_ring)
{
    struct perf_event_mmap_page *page;
    int err = yarn_event_map(event, bytes, &page);
    if (!err)
        *ret_ring = yarn_ring_of(page, (const uint8_t *)page + page->data_offset, bytes);
    return err;
}

void yarn_ring_close(struct yarn_ring *ring)
{
    yarn_perf_unmap(ring->page, ring->data.size);
    *ring = YARN_RING_CLOSED;
}

void yarn_ring_begin(struct yarn_ring *ring)
{
    ring->head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    if (!ring->may_skip)
        return;
    ring->tail =
        yarn_u64_max(ring->tail, __atomic_load_n(&ring->page->data_tail, __ATOMIC_RELAXED));
    ring->head = yarn_u64_max(ring->head, ring->tail);
}

/* `size` is at most the ring's. */
static struct yarn_wrapped bytes_at(const struct yarn_ring *ring, uint64_t position, size_t size)
{
    size_t at = (size_t)position & (ring->data.size - 1);
    size_t first = yarn_size_min(size, ring->data.size - at);
    return (struct yarn_wrapped){
        .first = yarn_span_sub(ring->data, at, first),
        .second = yarn_span_sub(ring->data, 0, size - first),
    };
}

enum yarn_ring_next yarn_ring_peek(struct yarn_ring *ring, struct perf_event_header *ret_header,
                                   struct yarn_wrapped *ret_record)
{
    uint64_t pending = ring->head - ring->tail;
    if (!pending)
        return YARN_RING_EMPTY;
    struct perf_event_header header = {0};
    struct yarn_wrapped bytes;
    bool is_whole = pending >= sizeof header && pending <= ring->data.size;
    if (is_whole) {
        bytes = bytes_at(ring, ring->tail, sizeof header);
        is_whole = yarn_wrapped_read(&bytes, 0, &header, sizeof header) &&
                   header.size >= sizeof header && header.size <= pending;
    }
    if (!is_whole) {
        ring->tail = ring->head;
        return YARN_RING_BROKEN;
    }
    *ret_header = header;
    *ret_record = bytes_at(ring, ring->tail, header.size);
    return YARN_RING_RECORD;
}

void yarn_ring_take(struct yarn_ring *ring, const struct perf_event_header *header)
{
    ring->tail += header->size;
}

void yarn_ring_commit(struct yarn_ring *ring)
{
    uint64_t given = __atomic_load_n(&ring->page->data_tail, __ATOMIC_RELAXED);
    if (ring->may_skip ? given < ring->tail : given != ring->tail)
        __atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}

static bool has_bytes(const struct yarn_wrapped *bytes, size_t at, size_t size)
{
    size_t all = yarn_wrapped_size(bytes);
    return at <= all && size <= all - at;
}

struct yarn_wrapped yarn_wrapped_sub(const struct yarn_wrapped *bytes, size_t at, size_t size)
{
    if (!has_bytes(bytes, at, size))
        return (struct yarn_wrapped){YARN_SPAN_EMPTY, YARN_SPAN_EMPTY};
    if (at >= bytes->first.size)
        return (struct yarn_wrapped){
            .first = yarn_span_sub(bytes->second, at - bytes->first.size, size),
        };
    size_t first = yarn_size_min(size, bytes->first.size - at);
    return (struct yarn_wrapped){
        .first = yarn_span_sub(bytes->first, at, first),
        .second = yarn_span_sub(bytes->second, 0, size - first),
    };
}

bool yarn_wrapped_read(const struct yarn_wrapped *bytes, size_t at, void *ret, size_t size)
{
    if (!has_bytes(bytes, at, size))
        return false;
    struct yarn_wrapped wanted = yarn_wrapped_sub(bytes, at, size);
    if (wanted.first.size)
        memcpy(ret, wanted.first.data, wanted.first.size);
    if (wanted.second.size)
        memcpy((uint8_t *)ret + wanted.first.size, wanted.second.data, wanted.second.size);
    return true;
}
