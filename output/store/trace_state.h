/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is known of an open trace.dat. Threads: one owner at a time.
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

/* Before the events of a core from then on, others were lost. */
struct yarn_trace_gap {
    uint64_t time_ns;
    uint64_t nr_lost; /* 1 where the file does not say */
    uint32_t cpu;
};

struct yarn_trace_file {
    struct yarn_span bytes; /* a copy that is mapped, where it is so; else borrowed */
    struct yarn_trace_file_format *formats;
    size_t nr_formats, formats_capacity;
    struct yarn_trace_file_core *cores; /* by number */
    size_t nr_cores, cores_capacity;
    uint64_t core_bytes;         /* of all of them, in the file */
    struct yarn_trace_gap *gaps; /* filled by walking; by time once the stream is read */
    size_t nr_gaps, gaps_capacity;
    uint64_t nr_lost;
    struct yarn_span names; /* lines of a pid, a blank and a name */
    uint64_t offset_ns;     /* of all times */
    uint32_t page_bytes, long_bytes;
    struct yarn_trace_scale {
        uint32_t mult, shift; /* mult 0: times are in ns */
    } scale;
    bool is_packed, is_deflated, is_mapped;
    bool has_ticks; /* the clock counts something else than ns */
    void **blocks;  /* owned: unpacked sections */
    size_t nr_blocks, blocks_capacity;
    uint64_t block_bytes;
    struct yarn_span unpacked; /* mapped; pages of all cores */
    struct yarn_trace_fault fault;
};

/* Sets the fault: -EBADMSG. */
static inline int yarn_trace_refuse(struct yarn_trace_file *file, uint64_t at, const char *why)
{
    file->fault = (struct yarn_trace_fault){at, why};
    return -EBADMSG;
}
