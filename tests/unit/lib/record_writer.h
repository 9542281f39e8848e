/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Perf records of any contents, written by the uapi header's description of them, one line a field;
 * what was written is kept, as it should be read. Nothing of the decoder is used.
 * Threads: one owner of all writers.
 */
#pragma once

#include <stddef.h>
#include <yarn/record.h>

enum {
    RECORD_BYTES_MAX = 8192,
    RECORD_COUNTERS = 1 << 19, /* PERF_SAMPLE_BRANCH_COUNTERS, which older headers lack */
};

struct record_writer {
    uint8_t bytes[RECORD_BYTES_MAX];
    size_t size;
    struct yarn_record want;
};

/* The same numbers each time. */
uint64_t record_any(void);
uint64_t record_below(uint64_t limit);

void record_begin(struct record_writer *writer, uint32_t type);
uint64_t record_put_u64(struct record_writer *writer, uint64_t value);
void record_end(struct record_writer *writer);

/* Whole ones, as of an event with this attr. */
void record_put_sample(struct record_writer *writer, const struct perf_event_attr *attr);
void record_put_other(struct record_writer *writer, const struct perf_event_attr *attr,
                      uint32_t type);
