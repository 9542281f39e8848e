/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One kernel counter: an event spec bound to a cpu and a thread, and the descriptor that stands
 * for the binding. Knows perf_event_open(2) and its ioctls; does not know why the event was wanted
 * (core/session) nor what its records mean (core/record).
 *
 * Threads: one owner at a time, in the descriptor table that opened it. Signals: only
 * yarn_event_is_open is async-signal-safe.
 */
#pragma once

#include "core/event/attr.h"
#include "core/sys/perf.h"

struct yarn_event {
    uint32_t number;      /* of the event spec; UINT32_MAX for a leader */
    uint64_t id;          /* as in PERF_SAMPLE_IDENTIFIER; 0 while closed */
    pid_t tid;            /* 0: the thread that opened it; or YARN_EVENT_EVERY_THREAD */
    int cpu;              /* -1: every cpu */
    int fd;               /* owned; -1 while closed */
    uint64_t read_format; /* of the attr */
};

enum { YARN_EVENT_EVERY_THREAD = -1 }; /* as tid: of every process, on one cpu */

#define YARN_EVENT_CLOSED ((struct yarn_event){.number = UINT32_MAX, .cpu = -1, .fd = -1})

static inline bool yarn_event_is_open(const struct yarn_event *event)
{
    return event->fd >= 0;
}

/* Opens disabled and close-on-exec. -ESRCH says that the thread has gone, which is no fault. */
YARN_MUST_CHECK int yarn_event_open(struct yarn_event *event, const struct perf_event_attr *attr,
                                    uint32_t number, pid_t tid, int cpu);

/* The same as a member of the group that `leader` leads, on its thread and core. */
YARN_MUST_CHECK int yarn_event_open_member(struct yarn_event *event,
                                           const struct perf_event_attr *attr, uint32_t number,
                                           const struct yarn_event *leader);

/* Sends this event's records into the mapped ring of `leader`, which must be on the same cpu. */
YARN_MUST_CHECK int yarn_event_redirect(const struct yarn_event *event,
                                        const struct yarn_event *leader);

/* Its ring of `data_bytes`, a power of two. -ENOMEM: the limit of locked memory, unlike a
 * refused open. The mapping alone keeps the event alive, and with it what threads inherit: the
 * descriptor may be closed (KF 14). */
YARN_MUST_CHECK int yarn_event_map(const struct yarn_event *event, size_t data_bytes,
                                   struct perf_event_mmap_page **ret_page);

YARN_MUST_CHECK int yarn_event_count(const struct yarn_event *event,
                                     struct yarn_perf_count *ret_count);

/* Adds what it has counted, as far as that can be read. */
void yarn_event_add_count(const struct yarn_event *event, struct yarn_perf_count *sum);

/* Idempotent; leaves *event equal to YARN_EVENT_CLOSED. The second: the last ones, until `kept` are
 * left. */
void yarn_event_close(struct yarn_event *event);
void yarn_events_close(struct yarn_event *events, size_t *count, size_t kept);
