/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Records of whole chunks become visits. Checks every number against what is known; counts what is
 * malformed or refers to what was lost. Knows format.def; does not know files and chunks' bytes.
 *
 * Each function returns what the visitor returned: non-zero ends the reading.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/allowance.h"
#include "output/dump/column.h"
#include "output/dump/known.h"
#include "output/dump/visitor.h"

struct yarn_dump_detail {
    struct yarn_span raw;
    uint64_t address;
    uint32_t sample;
};

struct yarn_dump_record_reader {
    const struct yarn_dump_visitor *visitor; /* borrowed */
    void *self;
    struct yarn_dump_summary *summary;     /* borrowed */
    struct yarn_dump_allowance *allowance; /* borrowed */
    struct yarn_dump_known known;
    struct yarn_dump_totals totals;
    struct yarn_cursor chunk;      /* on its records; the bytes are borrowed */
    uint64_t base_ns;              /* of the chunk */
    uint64_t offset;               /* of the chunk in the file */
    unsigned reported;             /* of the chunk: bits of enum yarn_dump_excess that were noted */
    size_t things_left;            /* that batches of this chunk may still hold */
    bool awaits_process;           /* a new process began, its PROCESS record has not come */
    size_t capacity;               /* in things, of each of these: */
    union yarn_dump_any_row *rows; /* owned; of the batch's struct */
    struct yarn_dump_column_scratch scratch;      /* owned */
    struct yarn_sample *samples, *merged_samples; /* owned */
    struct yarn_dump_stream_row *streams;         /* owned; for the next samples */
    size_t nr_streams;
    struct yarn_dump_detail *details; /* owned; for the next samples; the raw bytes are borrowed */
    size_t nr_details;
    struct yarn_dump_access_row *accesses; /* owned; for the next samples */
    size_t nr_accesses;
};

void yarn_dump_record_reader_open(struct yarn_dump_record_reader *reader,
                                  const struct yarn_dump_visitor *visitor, void *self,
                                  struct yarn_dump_summary *summary,
                                  struct yarn_dump_allowance *allowance);
/* Idempotent. */
void yarn_dump_record_reader_close(struct yarn_dump_record_reader *reader);

YARN_MUST_CHECK int yarn_dump_record_reader_begin_epoch(struct yarn_dump_record_reader *reader);
YARN_MUST_CHECK int yarn_dump_record_reader_begin_process(struct yarn_dump_record_reader *reader);

/* A chunk's records, which lie at `offset` in the file, become next. The payload is borrowed. */
void yarn_dump_record_reader_begin(struct yarn_dump_record_reader *reader, uint64_t base_ns,
                                   struct yarn_span payload, uint64_t offset);
bool yarn_dump_record_reader_has_more(const struct yarn_dump_record_reader *reader);
/* One record of it, where it has more. */
YARN_MUST_CHECK int yarn_dump_record_reader_next(struct yarn_dump_record_reader *reader);

/* Of batch_reader.c. */
YARN_MUST_CHECK int yarn_dump_read_batch(struct yarn_dump_record_reader *reader,
                                         enum yarn_dump_record record, struct yarn_span payload);
/* An event whose record was lost is made up, once, so that what names it is not lost too. False
 * (and counted) where the number is impossible. */
bool yarn_dump_check_event(struct yarn_dump_record_reader *reader, uint64_t number,
                           int *ret_result);
/* Excesses: no recorder writes them, and they are left out; each is a damage, noted once a chunk.
 */
enum yarn_dump_excess {
    YARN_DUMP_EXCESS_DEPTH,
    YARN_DUMP_EXCESS_TEXT,
    YARN_DUMP_EXCESS_WEIGHT,
    YARN_DUMP_EXCESS_AMOUNT,
};
void yarn_dump_note_excess(struct yarn_dump_record_reader *reader, enum yarn_dump_excess excess);
/* False where the allowance is spent: then the reading ends behind this record. */
bool yarn_dump_may_keep(struct yarn_dump_record_reader *reader, uint64_t bytes);
/* The same of a text that something names: 60,000 bytes can be named by one. */
bool yarn_dump_may_use(struct yarn_dump_record_reader *reader, struct yarn_span text);
/* Makes room for a batch. False (and counted) where so many things are too many. */
bool yarn_dump_take_things(struct yarn_dump_record_reader *reader, uint64_t count);
