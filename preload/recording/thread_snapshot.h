/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The list of the host's threads, read where the kernel does not tell of them: at the dump's
 * beginning, after a stop, in which threads may have come and gone, and when the host ends with
 * threads that are still alive. What it finds goes into the dump as the kernel's records do.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"
#include "preload/account/thread_ends.h"

enum {
    YARN_SNAPSHOT_MAX = 1024, /* of more than these nothing is told */
};

struct yarn_thread_snapshot {
    pid_t
        tids[YARN_SNAPSHOT_MAX]; /* of those that were there at the last stop and have not ended */
    size_t count;
    /* Of threads that noted their ends, as the notes lie: the number of one that was gone at the
     * last look, when that was, and less than 0 of one whose end is in the dump. */
    pid_t noted[YARN_THREAD_ENDS_MAX];
    uint64_t looked_ns;
};

struct yarn_recording;

/* Everybody who is there, into a new dump: the first thread since the process's start, the others
 * since now. */
void yarn_thread_snapshot_begin(struct yarn_recording *recording);

/* Before a stop: who is there. */
void yarn_thread_snapshot_take(struct yarn_recording *recording);

/* The kernel or the sampler tells of a thread's begin, and of its end, which goes into the dump. */
void yarn_thread_snapshot_on_begin(struct yarn_thread_snapshot *snapshot, pid_t tid);
void yarn_thread_snapshot_on_exit(struct yarn_recording *recording, pid_t tid, uint64_t time_ns);

/* After a stop, which ended at since_ns: the ends of those who are not there any more, and the
 * names of those who are. */
void yarn_thread_snapshot_compare(struct yarn_recording *recording, uint64_t since_ns);

/* After a drain that began at drained_ns: writes the ends that threads noted and of which nobody
 * has told, since the kernel tells only of threads that have events. Not of those that are still
 * there: the last thread runs the exit handlers after its note. At a flush, and where there are
 * many. */
void yarn_thread_snapshot_read_notes(struct yarn_recording *recording, uint64_t drained_ns,
                                     bool is_due);

/* The host ends: the ends of all, and what CPU time each has used. */
void yarn_thread_snapshot_end(struct yarn_recording *recording);
