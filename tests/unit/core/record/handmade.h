/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Perf rings and records made by hand, as the kernel would write them. Knows the layouts anew, from
 * perf_event_open(2), so that a fault of core/record is no fault here too.
 *
 * Threads: one owner at a time; handmade_ring_put may run against a reader of the ring.
 */
#pragma once

#include "core/base/bytes.h"
#include "core/record/record.h"

enum { HANDMADE_RECORD_BYTES = 65536, HANDMADE_TRAILER_BYTES = 32 };

struct handmade_record {
    uint8_t data[HANDMADE_RECORD_BYTES];
    struct yarn_byte_buffer bytes; /* of data; points into itself, so the record must not move */
};

void handmade_begin(struct handmade_record *record, uint32_t type, uint16_t misc);

struct handmade_identity {
    uint32_t pid, tid;
    uint64_t time_ns;
    uint32_t cpu;
    uint64_t id;
};
extern const struct handmade_identity handmade_someone;

/* What ends each side-band record. */
void handmade_trailer(struct handmade_record *record, const struct handmade_identity *identity);

/* What begins each sample, up to the period. */
void handmade_sample(struct handmade_record *record, const struct handmade_identity *identity,
                     uint64_t ip, uint64_t period);

/* Bytes that tell apart where they are. */
void handmade_pattern(struct handmade_record *record, size_t size, uint8_t seed);

/* Puts the size into the header. */
void handmade_end(struct handmade_record *record);
void handmade_set_size(struct handmade_record *record, uint16_t size);
struct perf_event_header handmade_header(const struct handmade_record *record);

/* From now on the decoder takes records of event `id` for those of `layouts[number]`. */
void handmade_know(struct yarn_record_decoder *decoder, const struct perf_event_attr *layouts,
                   uint64_t id, uint32_t number);

struct handmade_ring {
    struct perf_event_mmap_page page;
    uint8_t *data; /* owned; exactly `size` bytes, so that a sanitizer sees what lies outside */
    size_t size;
    struct yarn_ring ring; /* the reader's side */
};

/* Empty, with head and tail at `position`. */
void handmade_ring_open(struct handmade_ring *ring, size_t size, uint64_t position);
void handmade_ring_close(struct handmade_ring *ring);

/* Writes at the head and moves it, whatever the tail. */
void handmade_ring_put(struct handmade_ring *ring, const void *data, size_t size);
void handmade_ring_put_record(struct handmade_ring *ring, const struct handmade_record *record);

/* A record cut into two allocations of exactly its bytes, with `split` bytes in the first. */
struct handmade_split {
    uint8_t *piece[2]; /* owned */
    struct yarn_wrapped bytes;
};
struct handmade_split handmade_split_at(const struct handmade_record *record, size_t split);
void handmade_split_free(struct handmade_split *split);
