/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reads trace.dat, as trace-cmd.dat.v6(5) and v7(5) have it: the formats of events, what pids are
 * called, and the events of each core. Trusts nothing: each length is checked before it is used,
 * and a file that is cut or contradicts itself is refused with the place of the fault. Compressed
 * parts (zstd) are unpacked, those with events into a file without a name, within BYTES_MAX.
 * Knows the file; does not know what an event's fields mean.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/span.h"

struct yarn_trace_fault {
    uint64_t at;     /* in the file */
    const char *why; /* static */
};

struct yarn_trace_file_format {
    struct yarn_span system;
    struct yarn_span text; /* its first line has the name */
};

struct yarn_trace_file_core {
    uint32_t cpu;
    uint64_t at, size;      /* of its pages in the file, as it says */
    struct yarn_span pages; /* unpacked */
    uint64_t unpacked_at;   /* of them, in `unpacked` */
};

struct yarn_trace_file {
    struct yarn_span bytes; /* mapped, where it is so; else borrowed */
    struct yarn_trace_file_format *formats;
    size_t nr_formats, formats_capacity;
    struct yarn_trace_file_core *cores; /* by number */
    size_t nr_cores, cores_capacity;
    struct yarn_span names; /* lines of a pid, a blank and a name */
    uint64_t offset_ns;     /* of all times */
    uint32_t page_bytes, long_bytes;
    bool is_packed, is_mapped;
    void **blocks; /* owned: unpacked sections */
    size_t nr_blocks, blocks_capacity;
    uint64_t block_bytes;
    struct yarn_span unpacked; /* mapped; pages of all cores */
    struct yarn_trace_fault fault;
};

/* -ENOEXEC: it is no trace.dat; -EBADMSG and -ENOTSUP: `fault` says what is wrong where. */
YARN_MUST_CHECK int yarn_trace_file_open(struct yarn_trace_file *file, const char *path);
/* The same of bytes in memory, which outlive it. */
YARN_MUST_CHECK int yarn_trace_file_open_bytes(struct yarn_trace_file *file,
                                               struct yarn_span bytes);
/* Idempotent. */
void yarn_trace_file_close(struct yarn_trace_file *file);

/* `event` lies in the core's pages, and begins with the fields that are common. */
typedef int yarn_trace_file_event_fn(void *self, const struct yarn_trace_file_core *core,
                                     uint64_t time_ns, struct yarn_span event);
/* Core by core, each in its order. What `take` returned, or as open. */
YARN_MUST_CHECK int yarn_trace_file_each(struct yarn_trace_file *file,
                                         yarn_trace_file_event_fn *take, void *self);

/* Sets the fault: -EBADMSG. */
int yarn_trace_file_refuse(struct yarn_trace_file *file, uint64_t at, const char *why);
