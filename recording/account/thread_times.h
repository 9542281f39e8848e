/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The kernel's schedstat of the threads of the calling process: how long each ran, and how long it
 * waited for a core, which no switch record says after a wake-up. A thread that ends between two
 * readings has none of the time after the first. So they are close together when threads have come
 * or gone lately (a 128th of the time since, at least 20 ms, and a 32nd of the time may go into
 * them), later a second apart, and of a thread only if its clock has moved since. Of more than 64
 * such threads the next 64 have their turn each time. Of all there is one at the end, of one that
 * is alone only that.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"
#include "output/dump/writer.h"

enum { YARN_THREAD_TIMES_ROWS = 512, YARN_THREAD_TIMES_SEEN = 1024, YARN_THREAD_TIMES_MOST = 4096 };

/* The thread's own clock at the last reading. */
struct yarn_thread_time_seen {
    pid_t tid;
    uint64_t cpu_ns;
};

struct yarn_thread_times {
    const struct yarn_session *session; /* borrowed */
    uint64_t since_ns;                  /* as many threads as now */
    uint64_t next_ns;                   /* reading */
    size_t nr_threads, next;            /* of a round; whose turn it is */
    pid_t tids[YARN_THREAD_TIMES_MOST];
    struct yarn_thread_time_seen seen[YARN_THREAD_TIMES_SEEN]; /* by tid, as far as there is room */
    size_t count; /* of rows that are not written yet */
    struct yarn_dump_thread_time rows[YARN_THREAD_TIMES_ROWS];
};

/* Reads those of the first thread, for what it used before does not count. Where it is alone, the
 * next reading is not at once. */
void yarn_thread_times_begin(struct yarn_thread_times *times, pid_t tid);

/* Reads those of all threads if it is time to. */
void yarn_thread_times_read_due(struct yarn_thread_times *times, uint64_t now_ns);

/* Writes what was read; `is_last`: reads every thread once more before. */
void yarn_thread_times_write(struct yarn_thread_times *times, struct yarn_dump_writer *writer,
                             bool is_last);
