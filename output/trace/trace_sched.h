/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a trace.dat of ours has that its events do not tell: when threads were born and ended, which
 * process they are of, their CPU time, the kernel's schedstat, when nothing was recorded. With it
 * `sched` shows the same of the file as of the dumps. It is a section behind the file's head that
 * no option names, so other readers pass over it, and who writes the file anew leaves it out.
 *
 * The head, then so many of each in the order of its numbers, little-endian. A process and a thread
 * are followed by their texts, without a NUL. Times are those of the events, in ns.
 */
#pragma once

#include <stdint.h>

enum { YARN_TRACE_SCHED_SECTION = 0x7961, YARN_TRACE_SCHED_VERSION = 1 };

struct yarn_trace_sched_head {
    uint32_t version, nr_processes; /* not more than threads */
    uint64_t nr_threads, nr_spans, nr_readings, nr_gaps, nr_wakings;
};

struct yarn_trace_sched_process {
    uint64_t start_ns;
    uint64_t switches_lost, cut_ns; /* records; how long they were switched off */
    uint32_t pid;
    /* Of its texts, which follow: its name; what YARN_SCHED got, and why it was not more. */
    uint32_t name_bytes, got_bytes, reason_bytes;
};

enum {
    YARN_TRACE_SCHED_BORN = 1,     /* at birth_ns; else found, having run before */
    YARN_TRACE_SCHED_ENDED = 2,    /* at end_ns; else it lived on */
    YARN_TRACE_SCHED_RECORDED = 4, /* its switches were */
    YARN_TRACE_SCHED_WAKINGS = 8,  /* each of them is there */
};

struct yarn_trace_sched_thread {
    uint64_t birth_ns, end_ns, cpu_ns;
    uint32_t process, tid; /* the process by its place here */
    uint32_t flags;
    uint32_t name_bytes; /* of what it was called last, which follows */
};

enum { YARN_TRACE_SCHED_PREEMPTED = 1, YARN_TRACE_SCHED_OPEN = 2 };

/* A thread was on a core. */
struct yarn_trace_sched_span {
    uint64_t begin_ns, length_ns;
    uint32_t process, tid;
    uint32_t cpu, flags;
};

struct yarn_trace_sched_reading {
    uint64_t time_ns, run_ns, wait_ns;
    uint32_t process, tid;
};

struct yarn_trace_sched_gap {
    uint64_t from_ns, to_ns;
    uint64_t process;
};

struct yarn_trace_sched_waking {
    uint64_t time_ns;
    uint32_t process, tid;
    uint32_t waker_process, waker; /* UINT32_MAX: a thread of another, by its raw pid */
};
