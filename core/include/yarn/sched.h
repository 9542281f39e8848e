/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The events of one process of a dump, or of one trace.dat, in time order; and their targets, where
 * couplebreak is on. Equal times: by core, then as they were recorded. Threads: one owner. Signals:
 * not safe.
 */
#ifndef YARN_SCHED_H
#define YARN_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct yarn_stream;

struct yarn_entry {
    uint64_t time_ns;
    int event_id;
    int pid; /* the thread's: whose it is */
    int cpu; /* -1: unknown */
    /* From here on: the library's own. */
    uint32_t record_bytes;
    uint64_t record_at;
};

/* Process `index` of a dump; of a trace.dat `index` is 0. Couplebreak is off. -ENOENT: no such
 * process or file; -ENOEXEC: neither a dump nor a trace.dat; -EBADMSG: it is cut or damaged;
 * -ENOTSUP: it cannot be read here. */
int yarn_stream_open(const char *path, unsigned index, struct yarn_stream **ret_stream);
void yarn_stream_free(struct yarn_stream *stream);

/* Makes the entries anew: those that were given before are gone. */
int yarn_stream_couplebreak(struct yarn_stream *stream, bool on);
bool yarn_stream_couplebreak_is_on(const struct yarn_stream *stream);
/* Valid until couplebreak changes. */
const struct yarn_entry *yarn_stream_entries(const struct yarn_stream *stream, size_t *ret_count);
/* How many kinds of targets there are, and which: 0 while couplebreak is off. */
unsigned yarn_stream_n_couplebreak_events(const struct yarn_stream *stream);
uint32_t yarn_stream_couplebreak_flags(const struct yarn_stream *stream);
/* By its name, as "sched/sched_switch"; -ENOENT. A target is found where couplebreak is on and the
 * stream has one. */
int yarn_stream_find_event(const struct yarn_stream *stream, const char *name, int *ret_id);
/* Of events, without targets; of the targets that occur. */
const int *yarn_stream_event_ids(const struct yarn_stream *stream, size_t *ret_count);
const int *yarn_stream_couplebreak_ids(const struct yarn_stream *stream, size_t *ret_count);
uint32_t yarn_stream_pid(const struct yarn_stream *stream); /* of the process; 0: a trace.dat */

/* Of an entry, which lies in the stream's array. Texts that are made are valid until the next call
 * of the same function; NULL: no memory, no stream or no entry. */
const char *yarn_stream_event_name(const struct yarn_stream *stream,
                                   const struct yarn_entry *entry);
const char *yarn_stream_task(const struct yarn_stream *stream, const struct yarn_entry *entry);
int yarn_stream_original_pid(const struct yarn_stream *stream, const struct yarn_entry *entry);
/* Flags as ftrace has them, "d..2."; empty where the event has none. */
const char *yarn_stream_latency(struct yarn_stream *stream, const struct yarn_entry *entry);
const char *yarn_stream_info(struct yarn_stream *stream, const struct yarn_entry *entry);
const char *yarn_stream_dump_text(struct yarn_stream *stream, const struct yarn_entry *entry);
/* The record's bytes; NULL: it has none. */
const void *yarn_stream_raw(const struct yarn_stream *stream, const struct yarn_entry *entry,
                            size_t *ret_size);

enum yarn_field_type {
    YARN_FIELD_INTEGER = 1,
    YARN_FIELD_TEXT,
    YARN_FIELD_ARRAY,
};

/* Field `index` of the entry's event; NULL behind the last. */
const char *yarn_stream_field_name(struct yarn_stream *stream, const struct yarn_entry *entry,
                                   size_t index);
/* -ENOENT: it has no such field. */
int yarn_stream_field_type(const struct yarn_stream *stream, const struct yarn_entry *entry,
                           const char *name, enum yarn_field_type *ret_type);
/* -EINVAL: it is no integer, as for every NULL. */
int yarn_stream_field_value(const struct yarn_stream *stream, const struct yarn_entry *entry,
                            const char *name, int64_t *ret_value);
/* Of any field, as text; NULL: it has no such field. */
const char *yarn_stream_field_text(struct yarn_stream *stream, const struct yarn_entry *entry,
                                   const char *name);

#ifdef __cplusplus
}
#endif
#endif
