/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recording of one process, by the reader thread: owns the session, the pipeline for its
 * records, the account of times and the dump, and decides when each runs. Does not know what is
 * done with a record (pipeline), threads, commands or the host's lifecycle (recorder, lifecycle).
 *
 * The dump is created at the first sample (or a warning, or YARN_EMPTY=keep), so that a process
 * that does nothing leaves no file.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "recording/account/account.h"
#include "recording/account/thread_times.h"
#include "recording/dump/process_dump.h"
#include "recording/pipeline/pipeline.h"

/* Members with long lists come last: a short process touches their begin alone. */
struct yarn_recording {
    const struct yarn_job *job;     /* borrowed */
    struct yarn_messages *messages; /* borrowed */
    struct yarn_session_request request;
    struct yarn_failure failure;
    int own_stat;                            /* kept for a root without /proc; -1 */
    struct yarn_process_leader leader;       /* at the last check whether we are the only thread */
    uint64_t confirm_at_ns, confirm_step_ns; /* of the latest start or stop; step 0: done */
    uint64_t counters_at_ns;                 /* when YARN_COUNTERS are stored next */
    uint64_t drained_ns; /* when the latest drain began, without the final one; 0: none */
    bool is_cut_noted;   /* in the dump */
    bool is_halted;
    uint32_t nr_changes_reported; /* of the session's */
    bool is_held;                 /* disabled by a seal, enabled before it */
    bool holds_off_cpu;           /* stopped by a seal, on before it */
    bool is_sealed;               /* the dump has its end, for an exec */
    bool has_reported_no_samples, has_reported_refused_threads, has_reported_core_back;
    uint32_t reported_holds; /* of the session's */
    struct yarn_pipeline pipeline;
    struct yarn_session session;
    struct yarn_process_dump dump;
    struct yarn_thread_times times;
    struct yarn_account account;
};

/* Opens everything, the events off. On failure it is closed, but `failure` stays. */
YARN_MUST_CHECK int yarn_recording_open(struct yarn_recording *recording,
                                        const struct yarn_job *job, struct yarn_messages *messages);

/* Begins with the events on. */
void yarn_recording_begin(struct yarn_recording *recording);

/* One pass over the rings, to be followed by yarn_recording_store_queued. *ret_has_news: as of
 * yarn_merge_pass. */
size_t yarn_recording_drain(struct yarn_recording *recording, bool *ret_has_news);

/* As a drain, but of everything that is in the rings at this moment. */
void yarn_recording_drain_all(struct yarn_recording *recording);

/* Names and stores what was drained, where a flush is due or the queue is filling, and for at most
 * a while, so that no ring fills meanwhile; closes the modules' files. True where nothing is left.
 */
bool yarn_recording_store_queued(struct yarn_recording *recording, bool is_due);

/* Writes what was drained to the file. `is_last`: the process waits for it. */
void yarn_recording_flush(struct yarn_recording *recording, bool is_last);

/* How long until the next looks at blocked threads; while the host sleeps, until what they wait is
 * stored again. UINT64_MAX: there are none. */
uint64_t yarn_recording_off_cpu_timeout_ns(const struct yarn_recording *recording, uint64_t now_ns,
                                           bool is_asleep);

/* Reads generated code again that is new, or changes; how long until the next time. */
uint64_t yarn_recording_watch_code(struct yarn_recording *recording, uint64_t now_ns);

/* The host has slept and works again: what it counts from now on is no part of its sleep. */
void yarn_recording_wake(struct yarn_recording *recording);

/* Messages (recording_reports.c) about the session's report and the user's options, each once: what
 * had to be reduced at the opening; what went wrong since the last call; that stacks are copied
 * deeper than was asked for and than `before`; at the end, how many threads had no ring, or a
 * smaller one. */
void yarn_recording_report_opening(struct yarn_recording *recording);
void yarn_recording_report_failures(struct yarn_recording *recording);
void yarn_recording_report_deeper(struct yarn_recording *recording, uint32_t before);
void yarn_recording_report_final(struct yarn_recording *recording);

/* A mark of a host thread. */
void yarn_recording_mark(struct yarn_recording *recording, uint64_t time_ns, uint32_t tid,
                         const char *text);

/* Disables the events, drains to the last record and flushes. */
void yarn_recording_halt(struct yarn_recording *recording);

/* On the user's command: as a halt, until resumed. No effect where it is so already. */
void yarn_recording_pause(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause);
void yarn_recording_resume(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause);

/* Repeats a start or stop where that is due: the kernel lets an event that a thread inherits at
 * the moment of one miss it. Returns the time until the next one; UINT64_MAX: none. */
uint64_t yarn_recording_confirm(struct yarn_recording *recording, uint64_t now_ns);

/* The host is about to change its root: creates the dump, and opens files that are needed later.
 * Idempotent. */
void yarn_recording_leave_root(struct yarn_recording *recording);

/* True where no thread of the host is left but the reader. */
bool yarn_recording_is_alone(struct yarn_recording *recording);

/* Before an exec: drains what is there and closes the dump with an END, which later records take
 * back. */
void yarn_recording_seal(struct yarn_recording *recording);

/* After a seal, where the host continues after all (its exec failed). */
void yarn_recording_unseal(struct yarn_recording *recording);

/* As a halt; then seals the dump, or closes one that has nothing in it. */
void yarn_recording_end(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                        int status);

/* Releases everything, without a record in the dump. Idempotent. */
void yarn_recording_close(struct yarn_recording *recording);
