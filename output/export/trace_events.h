/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tracepoints of an export in the order of time, each as the bytes that its format file is
 * about. Where a switch has no sched_switch but a switch record of the kernel, one is made: its
 * unknown side is pid 0, `not-recorded`. Raw pids are those of the first pid namespace; what is
 * made has them, too, where a sample shows the thread's.
 *
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/table.h"
#include "core/event/trace_format.h"
#include "output/export/export.h"

struct yarn_trace_format {
    struct yarn_span text;   /* of its file `format` */
    struct yarn_span system; /* "sched" */
    uint64_t id;
    uint32_t raw_bytes;                            /* of all fields */
    bool has_more;                                 /* behind them, of that length or another */
    struct yarn_trace_field common_pid, comm, pid; /* size 0: it has none */
};

/* The fields of sched_switch that are made. */
struct yarn_trace_side {
    struct yarn_trace_field comm, pid;
};

struct yarn_trace_name {
    uint32_t pid;
    char comm[16];
};

struct yarn_trace_events {
    const struct yarn_export *export;
    struct yarn_trace_format *formats; /* owned array */
    size_t nr_formats, formats_capacity;
    struct yarn_table by_text; /* where an event's format lies, to the same one of `formats` */
    size_t switching;          /* which of them is sched_switch */
    struct yarn_trace_side prev, next;
    struct yarn_trace_field state, common_type, common_pid;
    struct yarn_table raw_pids;    /* dump and tid to the raw pid */
    struct yarn_trace_name *names; /* owned array: what pids were called last */
    size_t nr_names, names_capacity;
    struct yarn_table name_index; /* pid to its place in `names` */
    uint32_t *on_cores; /* owned; the raw pid that came in last on each; UINT32_MAX: unknown */
    size_t nr_cores;
    uint64_t nr_events, nr_made;
};

typedef int yarn_trace_event_fn(void *self, uint32_t core, uint64_t time_ns,
                                struct yarn_span event);

/* -ENODATA: there is none; -ENOTSUP: of different kernels. `export->why` says it. */
YARN_MUST_CHECK int yarn_trace_events_init(struct yarn_trace_events *events,
                                           struct yarn_export *export);
/* Idempotent. */
void yarn_trace_events_fini(struct yarn_trace_events *events);

/* The same each time; a return that is not 0 ends it. */
YARN_MUST_CHECK int yarn_trace_events_each(struct yarn_trace_events *events,
                                           yarn_trace_event_fn *take, void *self);
