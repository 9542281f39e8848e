/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Dumps made for tests, always the same bytes: one that holds every kind of record, and the means
 * to make others. Threads: one owner.
 */
#pragma once

#include "output/dump/writer.h"
#include "tests/unit/output/dump/record_log.h"

struct made_dump {
    int fd; /* owned; a file in memory */
    struct yarn_dump_writer *writer;
    uint8_t *bytes; /* owned; NULL until finished */
    size_t size;
};

/* `limits` may be NULL. */
void made_dump_begin(struct made_dump *dump, const struct yarn_dump_writer_limits *limits);
/* Whatever is pending: another dump of the same writer, renewed. */
void made_dump_renew(struct made_dump *dump);
/* Frees the writer, without a flush, and fetches what it has written. */
void made_dump_finish(struct made_dump *dump);
void made_dump_free(struct made_dump *dump);
struct yarn_span made_dump_span(const struct made_dump *dump);

/* Begin, every kind of record over a few chunks, end, finish. `wanted` (may be NULL) gets a line
 * for each record that a reader should hand on. */
void made_dump_everything(struct made_dump *dump, struct record_log *wanted);
/* The same of one that is begun. */
void made_dump_fill(struct made_dump *dump, struct record_log *wanted);

/* A stack of `depth` frames that depends on the seed; new frames only where they are not there. */
uint32_t made_dump_stack(struct made_dump *dump, uint32_t seed, uint32_t depth);

/* Symbols 0..15 and frames 0..63 of a fresh dump, for stacks. */
void made_dump_frames(struct made_dump *dump, struct record_log *wanted);
