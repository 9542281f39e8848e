/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Writes a dump: records become bytes of the current chunk; a full chunk, or a flush, becomes one
 * compressed, checksummed append to the file. Interns strings, symbols, frames and stacks: each is
 * stored once and used by number. Runs inside the host, on the reader thread: no malloc, no stdio,
 * raw system calls only; all memory is taken from pages.h, with a bound.
 * Knows FORMAT.md; does not know where records come from.
 *
 * The first failing write puts the writer into a failed state: every later call does nothing, and
 * yarn_dump_writer_error returns the errno. What was written before stays readable. Where the disk
 * was full, yarn_dump_writer_recover makes room for a few last records.
 *
 * When a table of interned things reaches its bound, the writer starts a new epoch: numbering of
 * strings, symbols, frames and stacks begins at 0 again. This happens in yarn_dump_writer_flush, in
 * yarn_dump_intern_symbol and in a second yarn_dump_write_process, nowhere else. Numbers handed out
 * before then must not be used: compare yarn_dump_writer_epoch.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/format.h"
#include "output/dump/types.h"

struct yarn_dump_writer;

struct yarn_dump_writer_limits {
    size_t interned_bytes; /* memory for tables and strings; 0: 32 MiB */
};

YARN_MUST_CHECK int yarn_dump_writer_new(struct yarn_dump_writer **ret_writer,
                                         const struct yarn_dump_writer_limits *limits);

/* Before anything else: takes over fd, an empty file opened for writing, once it returns 0. Only
 * writes the file's header, so that one who is killed soon after making the file leaves no empty
 * one. */
YARN_MUST_CHECK int yarn_dump_writer_open(struct yarn_dump_writer *writer, int fd);

/* Without a flush, closes the file: as a new one without limits, in memory that was touched before,
 * which costs less than the first touch of each page. On failure it can only be freed. */
YARN_MUST_CHECK int yarn_dump_writer_renew(struct yarn_dump_writer *writer);

/* Without a flush. NULL is allowed. Closes the file. */
void yarn_dump_writer_free(struct yarn_dump_writer *writer);

/* Appends what is pending, as one chunk or more. A no-op where nothing is. */
void yarn_dump_writer_flush(struct yarn_dump_writer *writer);

int yarn_dump_writer_error(const struct yarn_dump_writer *writer);
/* After a write that failed because the disk or the file is full, once: drops what did not get
 * into the file (totals that are written from then on show it as lost) and begins a new epoch. The
 * records that follow should be few. False where nothing can be written all the same. */
YARN_MUST_CHECK bool yarn_dump_writer_recover(struct yarn_dump_writer *writer);
/* Nothing but the file's header has been written. */
bool yarn_dump_writer_is_empty(const struct yarn_dump_writer *writer);
uint64_t yarn_dump_writer_bytes_written(const struct yarn_dump_writer *writer);
uint32_t yarn_dump_writer_epoch(const struct yarn_dump_writer *writer);

/* A record of its struct; rows of a list. PROCESS comes before everything else of a process;
 * another one begins another process (a merged dump). The number of a module is the caller's;
 * modules survive an epoch. TOTALS are written where they changed. END also flushes. */
void yarn_dump_write(struct yarn_dump_writer *writer, enum yarn_dump_record record,
                     const void *thing);
void yarn_dump_write_list(struct yarn_dump_writer *writer, enum yarn_dump_record list,
                          const void *rows, size_t count);

/* The same, of each: yarn_dump_write_process(writer, &process). */
#define YARN_RECORD(number, NAME, name, prose)                                                     \
    static inline void yarn_dump_write_##name(struct yarn_dump_writer *writer,                     \
                                              const struct yarn_dump_##name *thing)                \
    {                                                                                              \
        yarn_dump_write(writer, YARN_DUMP_RECORD_##NAME, thing);                                   \
    }
#define YARN_LIST(number, NAME, names, row, prose)                                                 \
    static inline void yarn_dump_write_##names(struct yarn_dump_writer *writer,                    \
                                               const struct yarn_dump_##row *rows, size_t count)   \
    {                                                                                              \
        yarn_dump_write_list(writer, YARN_DUMP_RECORD_##NAME, rows, count);                        \
    }
#include "core/base/room.h"
#include "core/base/table.h"
#include "output/dump/format.def"

struct yarn_dump_interner {
    struct yarn_table strings, symbols, stacks; /* hash -> number */
    struct yarn_room starts;
    uint64_t *symbol_starts; /* in that room; of max_symbols at most */
    size_t max_symbols;
    uint32_t nr_strings, nr_symbols, nr_frames, nr_stacks; /* of this epoch */
    bool is_crowded; /* a table is full: time for a new epoch */
};

/* These give YARN_DUMP_NONE in the failed state and where they are given a number that does not
 * exist; a sample whose stack does not exist is stored without one. */

/* Finds or adds; the number. Equal (module, start, name) is one symbol. `symbol->number` is
 * ignored. */
uint32_t yarn_dump_intern_symbol(struct yarn_dump_writer *writer,
                                 const struct yarn_dump_symbol *symbol);
/* A new frame; the caller remembers which address has which number within an epoch. */
uint32_t yarn_dump_add_frame(struct yarn_dump_writer *writer, const struct yarn_dump_frame *frame);
/* Finds or adds the stack (parent, frame); the number. */
uint32_t yarn_dump_intern_stack(struct yarn_dump_writer *writer, uint32_t parent, uint32_t frame);
/* Samples come in time order, save for late ones, which are allowed. */
void yarn_dump_write_sample(struct yarn_dump_writer *writer, const struct yarn_sample *sample);
