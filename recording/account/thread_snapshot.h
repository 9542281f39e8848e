/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The threads of a followed process, listed where the kernel does not report them: at the dump's
 * beginning, after a stop, in which threads may have come and gone, and when the process ends with
 * threads that are still alive. What it finds goes into the dump as the kernel's records do. A
 * writer may be NULL where no dump is begun: then nothing is stored.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"
#include "output/dump/writer.h"
#include "recording/account/thread_ends.h"

enum {
    YARN_SNAPSHOT_MAX = 1024, /* more than these are not recorded */
};

struct yarn_thread_snapshot {
    const struct yarn_session *session; /* borrowed: of the process and its threads' events */
    size_t count;
    uint64_t looked_ns;
    bool has_ended;                /* one of `born` */
    pid_t tids[YARN_SNAPSHOT_MAX]; /* of those that were there at the last stop and are not over */
    /* Of threads that noted their ends, indexed as the notes are: the tid of one that was gone at
     * the last scan (at looked_ns), its negative where its end is in the dump. */
    pid_t noted[YARN_THREAD_ENDS_MAX];
    /* Births that the kernel reported before there was a dump, by tid, and ends of the same. */
    struct {
        struct yarn_dump_thread thread;
        struct yarn_dump_thread_end end; /* tid 0: it has not ended */
    } born[YARN_SNAPSHOT_MAX];
};

/* All threads of the calling process, into a new dump: the first thread since the process's start,
 * the others since the kernel reported them, or since now; and, of any process, those that the
 * kernel reported and that are over. */
void yarn_thread_snapshot_begin(const struct yarn_thread_snapshot *snapshot,
                                struct yarn_dump_writer *writer, uint64_t process_start_ns);

/* Before a stop: the threads that exist. */
void yarn_thread_snapshot_take(struct yarn_thread_snapshot *snapshot);

/* The kernel or the sampler reports a thread's start, and its end, which go into the dump. */
void yarn_thread_snapshot_on_begin(struct yarn_thread_snapshot *snapshot,
                                   struct yarn_dump_writer *writer,
                                   const struct yarn_dump_thread *thread);
void yarn_thread_snapshot_on_exit(struct yarn_thread_snapshot *snapshot,
                                  struct yarn_dump_writer *writer, pid_t tid, uint64_t time_ns);

/* After a stop, which ended at since_ns: the ends of the threads that are gone, and the names of
 * those that exist. */
void yarn_thread_snapshot_compare(struct yarn_thread_snapshot *snapshot,
                                  struct yarn_dump_writer *writer, uint64_t since_ns);

/* After a drain that began at drained_ns: writes the ends that threads noted and nothing
 * reported, since the kernel reports only threads that have events. Not of those that still
 * exist: the last thread runs the exit handlers after its note. At a flush, and where there are
 * many. */
void yarn_thread_snapshot_read_notes(struct yarn_thread_snapshot *snapshot,
                                     struct yarn_dump_writer *writer, uint64_t drained_ns,
                                     bool is_due);

/* The process ends: the ends of all, and what CPU time each has used. */
void yarn_thread_snapshot_end(struct yarn_thread_snapshot *snapshot,
                              struct yarn_dump_writer *writer);
