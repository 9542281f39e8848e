/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/core/record/handmade.h"

#include <check.h>
#include <stdlib.h>

const struct handmade_identity handmade_someone = {
    .pid = 0x01020304,
    .tid = 0x05060708,
    .time_ns = UINT64_C(0x1112131415161718),
    .cpu = 0x21222324,
    .id = UINT64_C(0x3132333435363738),
};

void handmade_begin(struct handmade_record *record, uint32_t type, uint16_t misc)
{
    record->bytes = yarn_bytes_of(record->data, sizeof record->data);
    yarn_bytes_u32(&record->bytes, type);
    yarn_bytes_u16(&record->bytes, misc);
    yarn_bytes_u16(&record->bytes, 0);
}

void handmade_trailer(struct handmade_record *record, const struct handmade_identity *identity)
{
    yarn_bytes_u32(&record->bytes, identity->pid);
    yarn_bytes_u32(&record->bytes, identity->tid);
    yarn_bytes_u64(&record->bytes, identity->time_ns);
    yarn_bytes_u32(&record->bytes, identity->cpu);
    yarn_bytes_u32(&record->bytes, 0xeeeeeeee);
    yarn_bytes_u64(&record->bytes, identity->id);
}

void handmade_sample(struct handmade_record *record, const struct handmade_identity *identity,
                     uint64_t ip, uint64_t period)
{
    yarn_bytes_u64(&record->bytes, identity->id);
    yarn_bytes_u64(&record->bytes, ip);
    yarn_bytes_u32(&record->bytes, identity->pid);
    yarn_bytes_u32(&record->bytes, identity->tid);
    yarn_bytes_u64(&record->bytes, identity->time_ns);
    yarn_bytes_u32(&record->bytes, identity->cpu);
    yarn_bytes_u32(&record->bytes, 0xeeeeeeee);
    yarn_bytes_u64(&record->bytes, period);
}

void handmade_pattern(struct handmade_record *record, size_t size, uint8_t seed)
{
    for (size_t i = 0; i < size; i++)
        yarn_bytes_u8(&record->bytes, (uint8_t)(seed + i));
}

void handmade_set_size(struct handmade_record *record, uint16_t size)
{
    memcpy(record->data + offsetof(struct perf_event_header, size), &size, sizeof size);
}

void handmade_end(struct handmade_record *record)
{
    handmade_set_size(record, (uint16_t)record->bytes.size);
}

struct perf_event_header handmade_header(const struct handmade_record *record)
{
    struct perf_event_header header;
    memcpy(&header, record->data, sizeof header);
    return header;
}

void handmade_know(struct yarn_record_decoder *decoder, const struct perf_event_attr *layouts,
                   uint64_t id, uint32_t number)
{
    static struct yarn_table numbers;
    static uint8_t room[YARN_RECORD_BYTES_MAX];
    if (!numbers.slots)
        ck_assert_int_eq(yarn_table_open(&numbers, 16, 16), 0);
    ck_assert_int_eq(yarn_table_put(&numbers, id, number), 0);
    decoder->attrs = layouts;
    decoder->numbers = &numbers;
    decoder->room = room;
}

void handmade_ring_open(struct handmade_ring *ring, size_t size, uint64_t position)
{
    memset(&ring->page, 0, sizeof ring->page);
    ring->page.data_head = ring->page.data_tail = position;
    ring->data = malloc(size ? size : 1);
    ring->size = size;
    memset(ring->data, 0xa5, size);
    ring->ring = yarn_ring_of(&ring->page, ring->data, size);
}

void handmade_ring_close(struct handmade_ring *ring)
{
    free(ring->data);
    ring->data = NULL;
    ring->ring = YARN_RING_CLOSED;
}

void handmade_ring_put(struct handmade_ring *ring, const void *data, size_t size)
{
    uint64_t head = ring->page.data_head;
    for (size_t i = 0; i < size; i++)
        ring->data[(head + i) % ring->size] = ((const uint8_t *)data)[i];
    __atomic_store_n(&ring->page.data_head, head + size, __ATOMIC_RELEASE);
}

void handmade_ring_put_record(struct handmade_ring *ring, const struct handmade_record *record)
{
    handmade_ring_put(ring, record->data, record->bytes.size);
}

struct handmade_split handmade_split_at(const struct handmade_record *record, size_t split)
{
    size_t size[2] = {split, record->bytes.size - split};
    struct handmade_split result;
    for (size_t i = 0; i < 2; i++) {
        result.piece[i] = malloc(size[i] ? size[i] : 1);
        memcpy(result.piece[i], record->data + (i ? split : 0), size[i]);
    }
    result.bytes.first = yarn_span_of(result.piece[0], size[0]);
    result.bytes.second = yarn_span_of(result.piece[1], size[1]);
    return result;
}

void handmade_split_free(struct handmade_split *split)
{
    free(split->piece[0]);
    free(split->piece[1]);
}
