/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recording of one process: owns its events and rings, from the first open to the last drain.
 * Runs on the reader thread, in that thread's own descriptor table. Knows how events are attached
 * and drained; does not know what becomes of the records (listener) or when to drain (reader).
 *
 * Each step down that the kernel forces (a smaller ring, a smaller stack copy, an attribute that
 * an older kernel lacks, a refused event) goes into the report, and nowhere else.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/base/arena.h"
#include "core/base/table.h"
#include "core/event/attr.h"
#include "core/event/event.h"
#include "core/record/merge.h"
#include "core/session/host_clock.h"
#include "core/session/report.h"

struct yarn_timer_sampler;
struct yarn_thread_rings;

struct yarn_session_core {
    int cpu;
    struct yarn_event leader;          /* a dummy on the reader thread: never hangs up */
    struct perf_event_mmap_page *page; /* owned mapping */
    struct yarn_ring ring;
    uint64_t clock_seen_ns; /* count of its clock, where cores have one, at the last look */
};

/* See attach_mapped.c. */
struct yarn_mapped {
    uint32_t spec; /* number of the one event */
    struct yarn_host_clock clock;
};

/* See cpu_wide.h. */
struct yarn_cpu_wide {
    struct yarn_event *events; /* one for each core, some closed; NULL: there are none */
    int error;                 /* negative errno of a refusal: it is not tried again */
    uint32_t spec;             /* number of the event that they stand for */
    uint64_t next_look_ns;     /* at whether the clocks go on */
    struct yarn_host_clock clock;
};

struct yarn_session {
    const struct yarn_session_spec *spec; /* borrowed */
    struct yarn_session_report report;
    struct yarn_arena arena;
    int *cpus; /* present */
    size_t nr_cpus;
    size_t nr_threads; /* listed at the opening, ours too */
    struct yarn_session_core *cores;
    size_t nr_cores, max_cores;
    struct yarn_session_core *former_cores; /* others have taken their place; not empty yet */
    size_t nr_former_cores;
    struct yarn_event *events; /* on the host's threads */
    size_t nr_events, max_events;
    struct yarn_session_event *specs;  /* one for each of spec->events */
    struct yarn_table numbers;         /* id of an event -> its number in `specs` */
    struct yarn_timer_sampler *timer;  /* the timer sampler's; NULL under perf */
    struct yarn_thread_rings *threads; /* of the strategy per-thread; NULL else */
    struct yarn_cpu_wide wide;         /* of the strategy per-core */
    struct yarn_mapped mapped;         /* of events without descriptors */
    uint32_t watch_generation;         /* of the descriptors to poll */
    enum yarn_session_stack stack;     /* as got */
    bool may_drop_events;              /* for want of descriptors */
    bool is_enabled;                   /* kept by the attachment per core */
    uint32_t nr_changes;               /* of how samples are taken, since the opening */
    uint64_t nr_births;                /* of threads, as far as they were told */
    uint64_t nr_samples;               /* told; until the rings have grown */
    unsigned nr_grow_tries;            /* of the rings */
    uint64_t grow_after_ns;            /* the next */
    bool is_aside;                     /* in smaller rings until there is memory for larger ones */
    uint64_t soon_ns;                  /* how soon to look again, beyond what the rings need; 0 */
    struct yarn_merge merge;
};

#define YARN_SESSION_CLOSED ((struct yarn_session){.spec = NULL})

/* Opens everything, disabled: perf's events or, where `spec` allows for it and perf is refused, the
 * timer sampler. On failure the session is closed but its report stays. */
YARN_MUST_CHECK int yarn_session_open(struct yarn_session *session,
                                      const struct yarn_session_spec *spec);

/* A failure is in the report. */
void yarn_session_enable(struct yarn_session *session);
void yarn_session_disable(struct yarn_session *session);

enum { YARN_SESSION_DEEPEN_TRIES = 4, YARN_SESSION_GROW_TRIES = 4 };

/* Has stacks copied as deep as a record can hold from now on, once; while it is enabled. -EAGAIN:
 * threads appeared meanwhile, so many tries in all. -EBUSY: wait for the next look. */
YARN_MUST_CHECK int yarn_session_deepen(struct yarn_session *session);

/* Sends no signal any more, from before this returns, where something stands against it that the
 * host has just done; nothing where none are sent. */
void yarn_session_heed(struct yarn_session *session);

/* Tells the listener of what lies in the rings: everything older than the call, or (`is_last`,
 * after a disable) all of it. *ret_has_news: as of yarn_merge_pass. The number of records. */
size_t yarn_session_drain(struct yarn_session *session, bool is_last,
                          const struct yarn_record_listener *listener, bool *ret_has_news);

/* False where the count of event `number` is not known: no thread could be attached, or its events
 * have no descriptors. */
bool yarn_session_can_count(const struct yarn_session *session, uint32_t number);

/* Sums over threads and cores, by system calls: one for each open event. The enabled time is that
 * of the threads: less running time says that the event had to share a counter. */
struct yarn_perf_count yarn_session_count(const struct yarn_session *session, uint32_t number);

/* Of the cpu_ns that the host's threads used since the enable, what passed while no event `number`
 * of theirs ran: the kernel takes it off a core before it switches to another thread, and puts it
 * on again after. 0 where that is not known. It costs what a count costs. */
uint64_t yarn_session_switching_ns(struct yarn_session *session, uint32_t number, uint64_t cpu_ns);

/* CPU time in which samples are taken by signals and none could come: the host blocked it, or it
 * was held back. */
uint64_t yarn_session_blocked_ns(const struct yarn_session *session);

/* CPU time of all of a thread's life, told at its end; 0 where it is not known. */
uint64_t yarn_session_thread_cpu_ns(const struct yarn_session *session, pid_t tid);

/* "perf" or "timer"; "per-core", "per-thread" or "cores". */
const char *yarn_session_sampler_name(const struct yarn_session *session);
const char *yarn_session_strategy_name(const struct yarn_session *session);

/* True where records need somebody to look for them in time: no ring wakes a poller. */
bool yarn_session_needs_time(const struct yarn_session *session);

/* True where samples are taken by a signal's handler on the host's threads. */
bool yarn_session_sends_signals(const struct yarn_session *session);

/* True where the events have no descriptors, for want of them. */
bool yarn_session_is_mapped_only(const struct yarn_session *session);

/* Bytes of ring memory. */
size_t yarn_session_ring_bytes(const struct yarn_session *session);

/* Idempotent. The report stays. */
void yarn_session_close(struct yarn_session *session);
