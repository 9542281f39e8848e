/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The sink of a writer's records: collects whole records of one chunk, has them compressed, and
 * appends header and payload to the file with one write. Knows chunks and their order; does not
 * know what records mean.
 *
 * After the first failing write `error` is set and nothing is written any more, unless it is
 * recovered from. A limit of the file's size fails a little early, so that there is room for what
 * is said then.
 *
 * Threads: one owner at a time. Signals: not safe.
 */
#pragma once

#include "core/base/bytes.h"
#include "core/base/span.h"
#include "output/dump/chunk.h"
#include "output/dump/format.h"
#include "output/dump/types.h"

struct yarn_dump_packer {
    void *workspace; /* owned; NULL while closed */
    size_t workspace_bytes;
    struct ZSTD_CCtx_s *compressor; /* in the workspace */
};

enum { YARN_DUMP_SINK_BYTES = 256 << 10 }; /* of a chunk, raw */

struct yarn_dump_sink {
    int fd;    /* owned; -1 while closed */
    int error; /* negative errno */
    uint64_t bytes_written;
    struct yarn_dump_packer packer;
    struct yarn_dump_chunk chunk; /* the next one's header */
    bool has_time;                /* chunk.time_ns is set */
    bool is_recovered;
    /* Samples by how their stack ended: in `raw`, and in the file. */
    uint64_t waiting[YARN_DUMP_STACK_END_COUNT], written[YARN_DUMP_STACK_END_COUNT];
    struct yarn_byte_buffer raw; /* on raw_data */

    /* Nothing in these is read that was not written before. */
    uint8_t raw_data[YARN_DUMP_SINK_BYTES];
    uint8_t stored[YARN_DUMP_CHUNK_HEADER_BYTES + YARN_DUMP_SINK_BYTES];
};

/* A zeroed one. Nothing is written before it is open. */
YARN_MUST_CHECK int yarn_dump_sink_init(struct yarn_dump_sink *sink);
/* Writes the file header. On failure the descriptor stays the caller's. */
YARN_MUST_CHECK int yarn_dump_sink_open(struct yarn_dump_sink *sink, int fd);
/* Closes the file, without a flush: as after init, with the memory that it had. */
void yarn_dump_sink_renew(struct yarn_dump_sink *sink);
/* Without a flush. Idempotent. */
void yarn_dump_sink_close(struct yarn_dump_sink *sink);

/* The time that TIME values of this moment are relative to: the first time since
 * yarn_dump_sink_reset_time. */
uint64_t yarn_dump_sink_time(struct yarn_dump_sink *sink, uint64_t time_ns);
/* Only while no record that holds a time is waiting, here or with the caller. */
void yarn_dump_sink_reset_time(struct yarn_dump_sink *sink);

/* Where records were put into `raw` by others, behind `mark`, and did not fit: what came into it of
 * them is taken back, the chunk flushed, and true: they are to be put again. */
bool yarn_dump_sink_take_back(struct yarn_dump_sink *sink, size_t mark);
/* Adds whole records, in the same chunk; at most YARN_DUMP_SINK_BYTES. */
void yarn_dump_sink_append(struct yarn_dump_sink *sink, struct yarn_span records);
/* After records that hold samples. */
void yarn_dump_sink_count_samples(struct yarn_dump_sink *sink,
                                  const uint64_t counts[YARN_DUMP_STACK_END_COUNT]);
/* Once, after a write that failed for want of room: takes off what came into the file of it, and
 * drops the chunk. False where it is not for that, or not the first time. */
bool yarn_dump_sink_recover(struct yarn_dump_sink *sink);
/* The chunk becomes part of the file. A no-op where it is empty. */
void yarn_dump_sink_flush(struct yarn_dump_sink *sink);
