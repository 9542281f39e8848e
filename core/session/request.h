/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The request that opens a session: how a recording is wanted, before anything was asked of the
 * kernel. What came of it is the session's report (public, in yarn/session.h: SessionSpec).
 */
#pragma once

#include <sys/types.h>

#include "core/base/choices.h"
#include "core/event/spec.h"
#include "core/sys/target.h"
#include "core/sys/thread_end.h"

struct yarn_session_request {
    const struct yarn_event_spec *events; /* borrowed; outlive the session */
    size_t nr_events;
    uint32_t next_number;  /* the first that no event has, for alternates; 0: nr_events */
    uint64_t frequency_hz; /* for an event that falls back to another */
    enum yarn_sampler sampler;
    enum yarn_strategy strategy;
    enum yarn_stacks stack;
    uint32_t stack_bytes; /* asked; a multiple of 8 */
    bool may_deepen;      /* the copies, where many are cut: the user set no size */
    size_t ring_bytes;    /* a core, or a thread; 0: what holds 100 or 20 ms */
    uint64_t interval_ns; /* the longest that a record may stay in a ring */
    enum yarn_reader reader;
    bool records_switches;
    bool watches_waits;               /* blocked threads are looked at */
    uint64_t switch_rate_max_hz;      /* switch records a second and core; 0: any number */
    pid_t pid;                        /* of the host */
    const struct yarn_target *target; /* borrowed: the host, for what is asked of it */
    bool follows_tree;   /* processes that it makes and programs that it executes, too */
    bool of_cores;       /* of a tree: events of every thread on each core, which none inherits */
    bool attaches_later; /* to the threads that yarn_session_attach_thread names */
    size_t max_threads;  /* of those; the first that is tried is `pid` */
    bool times_tree;     /* switch records of all of them */
    bool can_pause;      /* of a tree: what samples, while the event that follows it goes on */
    bool starts_paused;  /* that one alone is on at first */
    bool starts_at_exec; /* not by an enable, but once the host executes a program */
    bool host_waits;     /* no host thread runs meanwhile, so its limits may be raised */
    /* Where a symbol is in the host, for breakpoints; false where nobody knows. NULL: none is
     * known. */
    bool (*find_symbol)(const char *symbol, uint64_t *ret_address);
    unsigned max_scans;                /* of the list of threads at the opening; 0: 32 */
    bool includes_reader;              /* the calling thread is one of those that are sampled */
    bool may_refuse_threads;           /* while one is left: the others are counted in the report */
    bool may_sleep;                    /* while the host does: the calls for it are permitted */
    bool may_set_turns;                /* of the calling thread, how long they are: likewise */
    struct yarn_thread_end leader_end; /* of the host's first thread, where that is known */
    int wake_fd;                 /* readable: the reader wakes; 0: the one of yarn_thread_wake */
    const char *machine_refusal; /* why events of the whole machine must not be opened; NULL */
    const char *bpf_refusal;     /* why no BPF program must be loaded; NULL */
    const char *perf_refusal;    /* why perf must not be asked at all, a static sentence; NULL */
};

/* The kind of stacks that the words of YARN_CALLGRAPH ask for. */
enum yarn_stacks yarn_session_stack_kind(const struct yarn_callgraph *callgraph);

/* The stacks of an event: as its own call-graph= says, else as the session's are. Bytes of its
 * copies; 0 where none are made. */
enum yarn_stacks yarn_session_request_stack(const struct yarn_session_request *request,
                                            const struct yarn_event_spec *event);
uint32_t yarn_session_request_copy_bytes(const struct yarn_session_request *request,
                                         const struct yarn_event_spec *event);
