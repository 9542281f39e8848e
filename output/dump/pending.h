/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Things that a writer has accepted and not yet encoded: strings, structured records, symbols,
 * frames, stacks and samples, each in its own bounded buffer. Sealing encodes them as records, in
 * an order in which nothing is used before it is defined, and passes these to the sink.
 *
 * Knows the batch records; does not know numbers' origin (interner). Add functions seal by
 * themselves where their place is full. Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/column.h"
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
    YARN_DUMP_PENDING_RAW = 48 << 10,                  /* bytes */
    YARN_DUMP_PENDING_ROWS = YARN_DUMP_PENDING_STACKS, /* the most of all */
    YARN_DUMP_RECORD_MAX = 512,                        /* bytes of one structured record */
};

/* Pending numbered rows: [first, first + count). */
struct yarn_dump_range {
    uint32_t first;
    uint32_t count;
};

struct yarn_dump_stream {
    struct yarn_dump_stream_row row;
    uint32_t from; /* of its samples in the order of writing */
};

/* Members without a long list come first: a short dump touches the begin of each list alone. */
struct yarn_dump_pending {
    struct yarn_dump_sink *sink; /* borrowed; outlives this */

    struct yarn_dump_range strings, symbols, frames, stacks;
    struct yarn_byte_buffer text;    /* on text_data */
    struct yarn_byte_buffer records; /* on records_data: whole ones, with their heads */
    struct yarn_byte_buffer raw;     /* on raw_data: raw bytes of samples, in their order */
    size_t nr_samples, nr_streams;
    size_t last_stream; /* of the previous sample */
    size_t nr_details, nr_accesses;

    struct yarn_dump_string_row string_rows[YARN_DUMP_PENDING_STRINGS];
    uint8_t text_data[YARN_DUMP_PENDING_TEXT];
    uint8_t records_data[YARN_DUMP_PENDING_RECORDS];
    struct yarn_dump_symbol_row symbol_rows[YARN_DUMP_PENDING_SYMBOLS];
    struct yarn_dump_frame_row frame_rows[YARN_DUMP_PENDING_FRAMES];
    struct yarn_dump_stack_row stack_rows[YARN_DUMP_PENDING_STACKS];
    struct yarn_dump_stream streams[YARN_DUMP_PENDING_STREAMS];
    struct yarn_sample samples[YARN_DUMP_PENDING_SAMPLES];
    uint16_t sample_streams[YARN_DUMP_PENDING_SAMPLES];
    uint8_t raw_data[YARN_DUMP_PENDING_RAW];

    /* Scratch: what is written of streams and samples, a column's numbers. */
    struct yarn_dump_stream_row stream_rows[YARN_DUMP_PENDING_STREAMS];
    struct yarn_dump_access_row access_rows[YARN_DUMP_PENDING_SAMPLES];
    struct yarn_dump_detail_row detail_rows[YARN_DUMP_PENDING_SAMPLES];
    struct yarn_dump_sample_row sample_rows[YARN_DUMP_PENDING_SAMPLES];
    uint64_t column[YARN_DUMP_PENDING_ROWS];
};

/* Whatever it was before. */
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
                                  const struct yarn_sample *sample);

/* Rows of a list, behind all that waits. */
void yarn_dump_pending_add_list(struct yarn_dump_pending *pending, enum yarn_dump_record list,
                                const void *rows, size_t count);

bool yarn_dump_pending_has_thread(const struct yarn_dump_pending *pending, uint32_t tid);

void yarn_dump_pending_seal(struct yarn_dump_pending *pending);
/* Drops what waits. */
void yarn_dump_pending_drop(struct yarn_dump_pending *pending);
