/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The things that a dump holds, as the writer takes them and the reader gives them: one struct a
 * record type. How they lie in the file is FORMAT.md and format.def; what they mean together is
 * output/analysis. Times are CLOCK_MONOTONIC in ns. Numbers of strings, modules, symbols, frames
 * and stacks count from 0 in the order in which the dump defines them; YARN_DUMP_NONE is "none".
 */
#pragma once

#include "core/base/span.h"

#define YARN_DUMP_NONE UINT32_MAX

/* What the kernel or the user asked for is text; what was got is text in the same syntax. */
struct yarn_dump_process {
    uint32_t pid, ppid;
    uint64_t start_ns;               /* of this image's recording */
    uint64_t start_realtime_ns;      /* the same moment on CLOCK_REALTIME */
    uint64_t boottime_offset_ns;     /* CLOCK_BOOTTIME - CLOCK_MONOTONIC at the start */
    int64_t monotonic_raw_offset_ns; /* CLOCK_MONOTONIC_RAW - CLOCK_MONOTONIC at the start */
    uint32_t clock;                  /* YARN_CLOCK: 0 monotonic, 1 monotonic_raw, 2 boottime */
    uint32_t cpus_present, cpus_online;
    uint32_t page_bytes;
    struct yarn_span exe;     /* path of the executable */
    struct yarn_span cmdline; /* arguments, NUL between them */
    struct yarn_span host;    /* node name */
    struct yarn_span kernel;  /* release */
    struct yarn_span arch;    /* machine */
    /* Lineage: who forked us and which image ran in this process before; pid 0 where unknown. */
    uint32_t parent_pid;
    uint64_t parent_start_ns;
    uint32_t predecessor_pid;
    uint64_t predecessor_start_ns;
    struct yarn_span boot_id; /* of the machine, as the kernel tells it; empty: unknown */
};

/* An option as it was in force. */
struct yarn_dump_option {
    struct yarn_span name, value;
};

struct yarn_dump_sampler {
    struct yarn_span asked, got, reason;       /* "auto", "perf", "" */
    struct yarn_span strategy, reader;         /* "per-core", "poll" */
    uint64_t ring_asked_bytes, ring_got_bytes; /* a core; asked 0 = auto */
    uint32_t stack_asked_bytes, stack_got_bytes;
    uint32_t nr_rings;
};

enum yarn_dump_event_flags {
    YARN_DUMP_EVENT_IS_CLOCK = 1,     /* period and counts are ns */
    YARN_DUMP_EVENT_IS_FREQUENCY = 2, /* the kernel chose periods: weights vary */
    YARN_DUMP_EVENT_EXCLUDES_KERNEL = 4,
    YARN_DUMP_EVENT_EXCLUDES_USER = 16,
    YARN_DUMP_EVENT_KERNEL_REFUSED = 8, /* it was wanted and not permitted; with the former */
};

/* Events are numbered from 0 in the order in which they were asked for. */
struct yarn_dump_event {
    uint32_t number;
    struct yarn_span name;   /* how views call it: "cpu-clock" */
    struct yarn_span asked;  /* the words of YARN_EVENTS */
    struct yarn_span got;    /* empty where it was refused */
    struct yarn_span unit;   /* "ns" for clocks, else "events" or "cycles" */
    struct yarn_span reason; /* of a refusal or of a difference, a sentence; else empty */
    uint32_t error;          /* errno of the refusal; 0 where it was opened */
    uint32_t flags;          /* enum yarn_dump_event_flags */
    uint32_t type;           /* perf_event_attr.type */
    uint64_t config;
    uint64_t period;    /* of a sample: the default weight; 0 in frequency mode */
    uint64_t frequency; /* 0 in period mode */
};

/* Sums over all threads and cores up to `time_ns`. The last record of an event counts. */
struct yarn_dump_count {
    uint32_t event;
    uint64_t time_ns;
    uint64_t count;
    uint64_t time_enabled_ns, time_running_ns;
    uint64_t lost; /* samples, by the kernel's own count */
};

/* Threads are named by tid; a tid that comes again after its end is another thread. */
struct yarn_dump_thread {
    uint32_t tid;
    uint32_t parent_tid; /* 0 where unknown */
    uint64_t time_ns;
    struct yarn_span comm;
};

struct yarn_dump_thread_name {
    uint32_t tid;
    uint64_t time_ns;
    struct yarn_span comm;
};

struct yarn_dump_thread_end {
    uint32_t tid;
    uint64_t time_ns;
    uint64_t cpu_ns; /* of the thread's whole life; 0 where unknown */
};

struct yarn_dump_module {
    uint32_t number;
    uint32_t kind; /* enum yarn_module_kind: 0 file, 1 vdso, 2 anonymous */
    uint64_t start, end, file_offset;
    uint64_t bias; /* address - linked address */
    uint64_t time_ns;
    struct yarn_span path;
    struct yarn_span build_id; /* bytes; empty where there is none */
    uint32_t state;            /* enum yarn_image_state */
};

/* A function. */
struct yarn_dump_symbol {
    uint32_t number;
    uint32_t module;       /* YARN_DUMP_NONE: no module holds the address */
    uint64_t start, end;   /* linked; both 0 where unknown */
    struct yarn_span name; /* as the symbol table has it, mangled; empty: unknown */
};

enum yarn_dump_frame_flags {
    YARN_DUMP_FRAME_KERNEL = 2, /* 1 is not used */
};

struct yarn_dump_frame {
    uint32_t number;
    uint32_t symbol; /* never NONE: every frame has a symbol record, named or not */
    uint32_t flags;
    uint64_t address; /* linked lookup address; where no module holds it, as in the process */
};

/* The name of generated code that came after frames there were stored without one: it is theirs. */
struct yarn_dump_code_name {
    uint32_t module; /* as the symbol of those frames has it */
    uint64_t address;
    uint64_t start, end; /* of the function */
    struct yarn_span name;
};

/* A stack is its outer neighbour plus one frame: `parent` is the caller's stack. */
struct yarn_dump_stack {
    uint32_t number;
    uint32_t parent; /* YARN_DUMP_NONE: the frame is the outermost */
    uint32_t frame;
};

/* How the walk ended: values of enum yarn_unwind_end (unwind/unwinder.h), in the file for ever. 1
 * is not used; where a dump has it, the stack is a truncated one. */
enum yarn_dump_stack_end {
    YARN_DUMP_STACK_COMPLETE,
    YARN_DUMP_STACK_TRUNCATED = 2,
    YARN_DUMP_STACK_NO_UNWIND_INFO,
    YARN_DUMP_STACK_FAILED,
    YARN_DUMP_STACK_NONE,
    YARN_DUMP_STACK_END_COUNT,
};

struct yarn_dump_sample {
    uint64_t time_ns;
    uint64_t weight; /* in the event's unit */
    uint32_t event;
    uint32_t tid;
    uint32_t cpu;
    uint32_t stack; /* YARN_DUMP_NONE where it has none */
    uint32_t stack_end;
};

/* Records that a ring had no room for, between two times of one core. */
struct yarn_dump_lost {
    uint64_t time_ns;
    uint64_t count;
    uint32_t event; /* YARN_DUMP_NONE where the kernel does not say */
    uint32_t cpu;
};

struct yarn_dump_throttle {
    uint64_t time_ns;
    uint32_t event;
    uint32_t cpu;
    bool is_on;
};

/* A mark of the user's, or a message that the log would have had. */
enum yarn_dump_message_kind {
    YARN_DUMP_MESSAGE_ERROR,
    YARN_DUMP_MESSAGE_WARNING,
    YARN_DUMP_MESSAGE_INFO,
    YARN_DUMP_MESSAGE_DEBUG,
    YARN_DUMP_MESSAGE_MARK,
    YARN_DUMP_MESSAGE_KIND_COUNT,
};

struct yarn_dump_message {
    uint64_t time_ns;
    uint32_t kind;
    uint32_t tid; /* 0: the profiler */
    struct yarn_span text;
};

/* The trust report: running totals, written with every chunk in which they changed. A key is never
 * used again for something else; an unknown key is kept as a number. */
#define YARN_DUMP_TOTALS(X)                                                                        \
    X(SAMPLES, samples)                                                                            \
    X(LOST, lost)                                                                                  \
    X(THROTTLED, throttled)                                                                        \
    X(FOREIGN, foreign)                                                                            \
    X(STACKS_COMPLETE, stacks_complete)                                                            \
    X(STACKS_JOINED, stacks_joined) /* always 0 */                                                 \
    X(STACKS_TRUNCATED, stacks_truncated)                                                          \
    X(STACKS_NO_UNWIND_INFO, stacks_no_unwind_info)                                                \
    X(STACKS_FAILED, stacks_failed)                                                                \
    X(STACKS_NONE, stacks_none)                                                                    \
    X(FRAMES_UNKNOWN, frames_unknown)                                                              \
    X(CPU_NS, cpu_ns)                                                                              \
    X(UNSAMPLED_NS, unsampled_ns)                                                                  \
    X(DRAIN_CPU_NS, drain_cpu_ns)                                                                  \
    X(MEMORY_BYTES, memory_bytes)                                                                  \
    X(BYTES_WRITTEN, bytes_written)                                                                \
    X(RECORDS_UNKNOWN, records_unknown)                                                            \
    X(RECORDS_BAD, records_bad)                                                                    \
    X(CHILDREN, children)         /* that were gone before they were recorded */                   \
    X(CHILDREN_NS, children_ns)   /* their CPU time; also in cpu_ns and unsampled_ns */            \
    X(OFF_NS, off_ns)             /* time in which the user had the recording stopped */           \
    X(OFF_CPU_NS, off_cpu_ns)     /* CPU time then; in neither cpu_ns nor unsampled_ns */          \
    X(KERNEL_NS, kernel_ns)       /* CPU time in the kernel that could not be sampled */           \
    X(BEFORE_NS, before_ns)       /* before it was recorded; also in cpu_ns and unsampled_ns */    \
    X(SWITCHING_NS, switching_ns) /* in which no event ran; also in cpu_ns and unsampled_ns */     \
    X(BLOCKED_NS, blocked_ns) /* in which the sampler's signal could not come; also in those */    \
    X(UNWRITTEN_NS, unwritten_ns) /* up to so much time before a cut was not written yet */        \
    X(REST_NS, rest_ns)           /* the most that passed in periods that were not full */

enum yarn_dump_total {
#define X(NAME, name) YARN_DUMP_TOTAL_##NAME,
    YARN_DUMP_TOTALS(X)
#undef X
        YARN_DUMP_TOTAL_COUNT,
};

struct yarn_dump_totals {
    uint64_t time_ns;
    uint64_t value[YARN_DUMP_TOTAL_COUNT];
};

/* Of a merged dump: which file the process was taken from, and what of it could not be read. */
struct yarn_dump_from {
    struct yarn_span path; /* as it was named */
    uint64_t file_bytes;
    uint64_t nr_damages, damaged_bytes;
    uint64_t damage_at;      /* offset of the first */
    struct yarn_span damage; /* a sentence */
    bool is_cut;             /* it ended inside of a chunk */
    uint64_t cut_at;
};

/* Who stops and starts the recording. */
enum yarn_dump_coverage_cause {
    YARN_DUMP_COVERAGE_OPTION, /* YARN_START, or as the process was that forked this one */
    YARN_DUMP_COVERAGE_PROGRAM,
    YARN_DUMP_COVERAGE_SOCKET,
    YARN_DUMP_COVERAGE_DELAY,
    YARN_DUMP_COVERAGE_DURATION,
    YARN_DUMP_COVERAGE_CAUSE_COUNT,
};

/* From a stop to the next start nothing is sampled. */
struct yarn_dump_coverage {
    uint64_t time_ns;
    bool is_on;
    uint32_t cause;      /* enum yarn_dump_coverage_cause */
    uint64_t off_cpu_ns; /* of a start: the host's CPU time since the stop */
};

enum yarn_dump_end_reason {
    YARN_DUMP_END_EXIT,     /* the host ended by exit() or return */
    YARN_DUMP_END_EXIT_RAW, /* the last host thread left without exit() */
    YARN_DUMP_END_EXEC,
    YARN_DUMP_END_STOPPED, /* by a control command or its duration */
    YARN_DUMP_END_FAILED,  /* the recording could not go on: a message says why */
    YARN_DUMP_END_SECCOMP, /* before a system call filter of the host; the host went on */
    YARN_DUMP_END_REASON_COUNT,
};

/* The last record of a whole dump. */
struct yarn_dump_end {
    uint64_t time_ns;
    uint32_t reason;
    int32_t status; /* the host's exit status where it is known; -1 */
};
