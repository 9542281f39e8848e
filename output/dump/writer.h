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
 * yarn_dump_writer_error tells the errno. What was written before stays readable. Where it was for
 * want of room, yarn_dump_writer_recover allows for a few last records.
 *
 * When a table of interned things reaches its bound, the writer starts a new epoch: numbering of
 * strings, symbols, frames and stacks begins at 0 again. This happens in yarn_dump_writer_flush, in
 * yarn_dump_intern_symbol and in a second yarn_dump_write_process, nowhere else. Numbers handed out
 * before then must not be used: compare yarn_dump_writer_epoch.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "output/dump/types.h"

struct yarn_dump_writer;

struct yarn_dump_writer_limits {
    size_t interned_bytes;    /* memory for tables and strings; 0: 32 MiB */
    int compression_level;    /* of zstd; 0: 3 */
    uint32_t chunks_a_series; /* that are compressed together; 0: 25 */
};

/* Takes over fd, an empty file opened for writing, once it returns 0. */
YARN_MUST_CHECK int yarn_dump_writer_new(struct yarn_dump_writer **ret_writer, int fd,
                                         const struct yarn_dump_writer_limits *limits);

/* Without a flush. NULL is allowed. Closes the file. */
void yarn_dump_writer_free(struct yarn_dump_writer *writer);

/* Appends what is pending, as one chunk or more. A no-op where nothing is. */
void yarn_dump_writer_flush(struct yarn_dump_writer *writer);

int yarn_dump_writer_error(const struct yarn_dump_writer *writer);
/* After a write that failed because the disk or the file is full, once: forgets what did not get
 * into the file (totals that are written from then on show it as lost) and begins a new epoch. The
 * records that follow should be few. False where nothing can be written all the same. */
YARN_MUST_CHECK bool yarn_dump_writer_recover(struct yarn_dump_writer *writer);
/* Nothing but the file's header has been written. */
bool yarn_dump_writer_is_empty(const struct yarn_dump_writer *writer);
uint64_t yarn_dump_writer_bytes_written(const struct yarn_dump_writer *writer);
uint32_t yarn_dump_writer_epoch(const struct yarn_dump_writer *writer);

/* Comes before everything else of a process; another one begins another process (a merged dump). */
void yarn_dump_write_process(struct yarn_dump_writer *writer,
                             const struct yarn_dump_process *process);
void yarn_dump_write_option(struct yarn_dump_writer *writer, const struct yarn_dump_option *option);
void yarn_dump_write_sampler(struct yarn_dump_writer *writer,
                             const struct yarn_dump_sampler *sampler);
void yarn_dump_write_event(struct yarn_dump_writer *writer, const struct yarn_dump_event *event);
void yarn_dump_write_count(struct yarn_dump_writer *writer, const struct yarn_dump_count *count);
void yarn_dump_write_thread(struct yarn_dump_writer *writer, const struct yarn_dump_thread *thread);
void yarn_dump_write_thread_name(struct yarn_dump_writer *writer,
                                 const struct yarn_dump_thread_name *name);
void yarn_dump_write_thread_end(struct yarn_dump_writer *writer,
                                const struct yarn_dump_thread_end *end);
/* `module->number` is the caller's; modules survive an epoch. */
void yarn_dump_write_module(struct yarn_dump_writer *writer, const struct yarn_dump_module *module);
void yarn_dump_write_code_name(struct yarn_dump_writer *writer,
                               const struct yarn_dump_code_name *code_name);
void yarn_dump_write_lost(struct yarn_dump_writer *writer, const struct yarn_dump_lost *lost);
void yarn_dump_write_throttle(struct yarn_dump_writer *writer,
                              const struct yarn_dump_throttle *throttle);
void yarn_dump_write_message(struct yarn_dump_writer *writer,
                             const struct yarn_dump_message *message);
void yarn_dump_write_coverage(struct yarn_dump_writer *writer,
                              const struct yarn_dump_coverage *coverage);
void yarn_dump_write_totals(struct yarn_dump_writer *writer, const struct yarn_dump_totals *totals);
/* Also flushes. */
void yarn_dump_write_end(struct yarn_dump_writer *writer, const struct yarn_dump_end *end);

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
void yarn_dump_write_sample(struct yarn_dump_writer *writer, const struct yarn_dump_sample *sample);
