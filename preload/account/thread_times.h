/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the kernel's schedstat says of the threads of the calling process: how long each ran, and
 * how long it waited for a core, which no switch record says after a wake-up. Read once a second,
 * and when the recording ends; a thread that ends between has none. Many threads are read at the
 * end only.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include <sys/types.h>

#include "output/dump/writer.h"

/* False where the thread is gone, or its numbers are not readable. */
bool yarn_thread_times_read(pid_t tid, struct yarn_dump_thread_time *ret_row);

/* Of all threads but `reader_tid`; of no more than some unless `is_last`. */
void yarn_thread_times_write(struct yarn_dump_writer *writer, pid_t pid, pid_t reader_tid,
                             bool is_last);
