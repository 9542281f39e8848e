/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a stream is inside: entries of 32 bytes, in a file beyond some number of them, the events
 * that they are of, what threads are called, and the bytes of the records, which stay in a file. A
 * source (stream_dump.c,
 * stream_trace.c) adds entries in any order and sorts them; from then on entries change only as a
 * whole, by couplebreak. Threads: one owner at a time.
 */
#pragma once

#pragma GCC visibility push(default)
#include "core/include/yarn/couplebreak.h"
#include "core/include/yarn/sched.h"
#pragma GCC visibility pop

#include "core/base/table.h"
#include "core/base/text.h"
#include "core/event/trace_format.h"
#include "output/dump/visitor.h"
#include "output/store/sorter.h"
#include "output/store/spill.h"
#include "output/store/trace_fields.h"
#include "output/store/trace_file.h"

/* Ids of events that have none of the kernel's, which are below 65536. */
enum { YARN_STREAM_ID_PLAIN = 1 << 16, YARN_STREAM_ID_IN = 1 << 17, YARN_STREAM_ID_OUT };

enum yarn_stream_kind {
    YARN_STREAM_OTHER,
    YARN_STREAM_SWITCH,
    YARN_STREAM_WAKING,
};

struct yarn_stream_event {
    int id;
    enum yarn_stream_kind kind;
    char *name;                       /* owned: "sched/sched_switch" */
    char *format;                     /* owned; NULL: its records have no fields */
    struct yarn_trace_fields *fields; /* owned; NULL: none */
    /* Of a switch or a waking: whose the target is, and where; size 0: the event has no such. */
    struct yarn_trace_field target_pid, target_cpu;
};

/* A thread of a stream, as far as it is known. */
struct yarn_stream_task {
    char comm[32];
    bool has_comm;
    bool is_own; /* of the stream's process */
};

struct yarn_stream {
    char *path;                       /* owned: of the file */
    struct yarn_sorter entries;       /* struct yarn_entry; gathered once it is finished */
    struct yarn_stream_event *events; /* owned */
    size_t nr_events, events_capacity;
    struct yarn_table by_id; /* id to event */
    int *ids;                /* owned: of all events */
    int target_ids[2];
    size_t nr_target_ids;
    struct yarn_stream_task *tasks; /* owned */
    size_t nr_tasks, tasks_capacity;
    struct yarn_table by_pid; /* pid to task */
    struct yarn_table tids;   /* raw pid to tid, where they differ */
    struct yarn_trace_file trace;
    struct yarn_span records; /* mapped: where record_at begins */
    bool owns_records;        /* else they are the trace's, or those of the dump's first stream */
    bool is_on;
    uint32_t flags, pid;
    uint32_t dump;     /* the caller's: its number for the process */
    uint64_t start_ns; /* of the process; of a trace.dat its first event's time */
    char *texts[4];    /* owned: what was given last: info, dump text, field's name, its text */
    char latency[8];
};

/* In the order in which they were read. */
struct yarn_stream_list {
    struct yarn_stream **list; /* owned, and so are they */
    size_t count, capacity;
    size_t nr_in_memory; /* entries of complete processes, or more */
    /* The caller's, of dumps: */
    bool has_no_samples;    /* of events without fields */
    uint64_t switches_most; /* with more there are no streams at all; 0: any number */
    uint64_t nr_switches;
};

/* New and empty; NULL: no memory. */
struct yarn_stream *yarn_stream_new(void);
static inline struct yarn_entry *yarn_stream_list_of(const struct yarn_stream *stream)
{
    return stream->entries.list;
}

/* SYSTEM:NAME or SYSTEM/NAME or a plain name; `format` may be empty. */
YARN_MUST_CHECK int yarn_stream_add_event(struct yarn_stream *stream, int id, struct yarn_span name,
                                          struct yarn_span format);
YARN_MUST_CHECK int yarn_stream_add_entry(struct yarn_stream *stream,
                                          const struct yarn_entry *entry);
/* The last counts. */
YARN_MUST_CHECK int yarn_stream_add_name(struct yarn_stream *stream, uint32_t pid,
                                         struct yarn_span comm);
/* NULL: none. */
const struct yarn_stream_event *yarn_stream_event_by_id(const struct yarn_stream *stream, int id);
/* Of an entry, or of its origin. */
const struct yarn_stream_event *yarn_stream_event_of(const struct yarn_stream *stream,
                                                     const struct yarn_entry *entry);
struct yarn_span yarn_stream_record(const struct yarn_stream *stream,
                                    const struct yarn_entry *entry);
/* As this stream has it. */
int yarn_stream_tid_of(const struct yarn_stream *stream, uint32_t raw_pid);
/* The thread `raw_pid` of the first pid namespace has that number here. */
YARN_MUST_CHECK int yarn_stream_add_tid(struct yarn_stream *stream, uint32_t raw_pid, uint32_t tid);
/* Notes that the thread is of the stream's process. */
YARN_MUST_CHECK int yarn_stream_add_own(struct yarn_stream *stream, uint32_t tid);
bool yarn_stream_is_own(const struct yarn_stream *stream, int tid);
/* Entries and records that lie in files leave memory: for who reads them one after the other, at
 * the end and each time that many were read. */
enum { YARN_STREAM_DROP = 1 << 16 };
void yarn_stream_drop_pages(const struct yarn_stream *stream);

enum { YARN_STREAM_EACH = -1 };

/* As yarn_stream_open; `index` may be YARN_STREAM_EACH, which a dump may have none of: they are
 * added. `why` is filled where there are words for what is wrong. */
YARN_MUST_CHECK int yarn_stream_list_read(struct yarn_stream_list *streams, const char *path,
                                          int64_t index, struct yarn_text *why);
/* Idempotent. */
void yarn_stream_list_fini(struct yarn_stream_list *streams);

/* Sources: -ENOEXEC where it is none of theirs; *why is filled with what is wrong. */
YARN_MUST_CHECK int yarn_stream_read_trace(struct yarn_stream *stream, const char *path,
                                           struct yarn_text *why);
YARN_MUST_CHECK int yarn_stream_read_dump(struct yarn_stream_list *streams, const char *path,
                                          int64_t index, struct yarn_text *why);
/* Once all entries are added: brings them into order. */
YARN_MUST_CHECK int yarn_stream_finish(struct yarn_stream *stream, const char *path);

/* The reading of a dump into streams. */
struct yarn_stream_reading {
    struct yarn_stream_list *streams;
    struct yarn_stream *stream; /* of the process; NULL: it is not wanted, or none has begun */
    size_t first;               /* of the dump */
    struct yarn_spill records;  /* of all */
    struct yarn_spill entries;  /* of all: not a file for each of thousands of processes */
    int64_t wanted;             /* counted from 0, or YARN_STREAM_EACH */
    int64_t nr_processes;
    struct yarn_table by_event; /* of the process: number to id */
    uint32_t own_tid;           /* of yarn's thread there, as fields number it; 0: unknown */
};

/* Takes the records; `self` is the reading. */
extern const struct yarn_dump_visitor yarn_stream_visitor;
YARN_MUST_CHECK int yarn_stream_reading_begin(struct yarn_stream_reading *reading,
                                              struct yarn_stream_list *streams, int64_t wanted);
/* Also where it failed by `err`, which is then the result. */
YARN_MUST_CHECK int yarn_stream_reading_end(struct yarn_stream_reading *reading, const char *path,
                                            int err);
