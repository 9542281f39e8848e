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

#include "output/store/trace_state.h"

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
