/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a writer has taken and not yet made records of: strings, structured records, symbols,
 * frames, stacks and samples, each in its own bounded place. Sealing turns them into records in an
 * order in which nothing is used before it is defined, and hands those to the sink.
 *
 * Knows the batch records; does not know numbers' origin (interner). Add functions seal by
 * themselves where their place is full. Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/column.h"
#include "output/dump/models.h"
#include "output/dump/sink.h"

enum {
    YARN_DUMP_PENDING_STRINGS = 4096,
    YARN_DUMP_PENDING_TEXT = 128 << 10,
    YARN_DUMP_PENDING_RECORDS = 32 << 10, /* bytes */
    YARN_DUMP_PENDING_SYMBOLS = 2048,
    YARN_DUMP_PENDING_FRAMES = 4096,
    YARN_DUMP_PENDING_STACKS = 8192,
    YARN_DUMP_PENDING_SAMPLES = 4096,
    YARN_DUMP_PENDING_STREAMS = 512,
    YARN_DUMP_RECORD_MAX = 512, /* bytes of one structured record */
};

/* Numbered things that wait: [first, first + count). */
struct yarn_dump_range {
    uint32_t first;
    uint32_t count;
};

struct yarn_dump_stream {
    uint32_t event, tid;
    uint32_t count;
    uint32_t from; /* of its samples in the order of writing */
    uint64_t first_ns, before_ns;
    uint64_t period_ns;
    uint64_t weight;
};

struct yarn_dump_pending {
    struct yarn_dump_sink *sink; /* borrowed; outlives this */
    struct yarn_dump_models models;
    uint32_t series; /* of the sink's packer, that the models belong to */

    struct yarn_dump_range strings;
    uint64_t string_sizes[YARN_DUMP_PENDING_STRINGS];
    struct yarn_bytes text; /* on text_data */
    uint8_t text_data[YARN_DUMP_PENDING_TEXT];

    struct yarn_bytes records; /* on records_data: whole ones, with their heads */
    uint8_t records_data[YARN_DUMP_PENDING_RECORDS];

    struct yarn_dump_range symbols;
    uint64_t symbol_modules[YARN_DUMP_PENDING_SYMBOLS];
    uint64_t symbol_starts[YARN_DUMP_PENDING_SYMBOLS];
    uint64_t symbol_sizes[YARN_DUMP_PENDING_SYMBOLS];
    uint64_t symbol_names[YARN_DUMP_PENDING_SYMBOLS];

    struct yarn_dump_range frames;
    uint64_t frame_symbols[YARN_DUMP_PENDING_FRAMES];
    uint64_t frame_flags[YARN_DUMP_PENDING_FRAMES];
    uint64_t frame_addresses[YARN_DUMP_PENDING_FRAMES];

    struct yarn_dump_range stacks;
    uint64_t stack_parents[YARN_DUMP_PENDING_STACKS];
    uint64_t stack_frames[YARN_DUMP_PENDING_STACKS];

    size_t nr_samples, nr_streams;
    size_t last_stream; /* of the sample before */
    struct yarn_dump_stream streams[YARN_DUMP_PENDING_STREAMS];
    struct yarn_dump_sample samples[YARN_DUMP_PENDING_SAMPLES];
    uint16_t sample_streams[YARN_DUMP_PENDING_SAMPLES];
    uint16_t order[YARN_DUMP_PENDING_SAMPLES]; /* of writing: stream by stream */

    uint64_t column[YARN_DUMP_PENDING_SAMPLES]; /* scratch of one column */
};

void yarn_dump_pending_init(struct yarn_dump_pending *pending, struct yarn_dump_sink *sink);

void yarn_dump_pending_add_string(struct yarn_dump_pending *pending, uint32_t number,
                                  struct yarn_span text);
/* `payload`: of a structured record; at most YARN_DUMP_RECORD_MAX bytes. */
void yarn_dump_pending_add_record(struct yarn_dump_pending *pending, enum yarn_dump_record record,
                                  struct yarn_span payload);
/* `name`: a text reference. */
void yarn_dump_pending_add_symbol(struct yarn_dump_pending *pending, uint32_t number,
                                  const struct yarn_dump_symbol *symbol, uint64_t name);
void yarn_dump_pending_add_frame(struct yarn_dump_pending *pending, uint32_t number,
                                 const struct yarn_dump_frame *frame, uint64_t symbol_start);
void yarn_dump_pending_add_stack(struct yarn_dump_pending *pending, uint32_t number,
                                 uint32_t parent, uint32_t frame);
void yarn_dump_pending_add_sample(struct yarn_dump_pending *pending,
                                  const struct yarn_dump_sample *sample);

bool yarn_dump_pending_has_thread(const struct yarn_dump_pending *pending, uint32_t tid);

void yarn_dump_pending_seal(struct yarn_dump_pending *pending);
/* Forgets what waits. */
void yarn_dump_pending_drop(struct yarn_dump_pending *pending);

/* Of pending_samples.c: the samples as one record. */
void yarn_dump_pending_seal_samples(struct yarn_dump_pending *pending);

typedef void yarn_dump_encode_fn(struct yarn_dump_pending *pending, struct yarn_bytes *payload);

/* A record whose columns have models goes to the sink; it may have to be encoded again. */
void yarn_dump_pending_seal_batch(struct yarn_dump_pending *pending, enum yarn_dump_record record,
                                  yarn_dump_encode_fn *encode);
