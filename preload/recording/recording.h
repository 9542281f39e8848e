/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recording as the reader thread carries it on: session, module map, unwinder, names and
 * dump, and the records' way through them. Knows what becomes of each record; does not know
 * threads, commands or the host's life (recorder, lifecycle).
 *
 * The dump is begun with the first sample (or a warning, or YARN_EMPTY=keep), so that a process
 * that does nothing leaves no file.
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/session.h"
#include "output/dump/writer.h"
#include "preload/account/charges.h"
#include "preload/account/coverage.h"
#include "preload/dump/dump_file.h"
#include "preload/dump/messages.h"
#include "preload/pipeline/queue.h"
#include "preload/pipeline/stacks.h"
#include "preload/pipeline/walks.h"
#include "preload/process/job.h"
#include "preload/recording/thread_snapshot.h"

struct yarn_recording {
    const struct yarn_job *job;     /* borrowed */
    struct yarn_messages *messages; /* borrowed */
    const char *failure;            /* what ended or prevented it, a static sentence; NULL */
    int failure_error;
    pid_t own_tid;                     /* of the reader, which opened it */
    int own_stat;                      /* kept for a root without /proc; -1 */
    struct yarn_process_leader leader; /* at the last look whether we are alone */
    struct yarn_session_spec spec;
    struct yarn_session session;
    struct yarn_module_map *map;
    struct yarn_unwinder *unwinder;
    struct yarn_frame_names names;
    struct yarn_walks walks;
    struct yarn_queue queue;
    struct yarn_stacks stacks;
    struct yarn_dump_file file;
    struct yarn_lineage lineage;     /* as in the dump */
    struct yarn_dump_writer *writer; /* NULL until the dump is begun */
    struct yarn_dump_totals totals;
    struct yarn_coverage coverage;
    struct yarn_thread_snapshot snapshot;
    uint64_t confirm_at_ns, confirm_step_ns; /* of the latest start or stop; step 0: done */
    uint32_t clock_event; /* number of the event whose count is CPU time; YARN_DUMP_NONE */
    uint64_t drained_ns;  /* when the last drain began that was not the last of all; 0: none has */
    uint64_t sampled_ns;  /* weight of its samples */
    uint64_t nr_dropped;  /* samples that found no room in the queue: lost by us */
    uint64_t missed_ns;   /* CPU time of a child after fork before its events were on */
    struct yarn_charges *charges;                 /* borrowed; of children never recorded; NULL */
    size_t nr_messages_written, nr_messages_kept; /* told the writer; in the file */
    bool has_reported_failure;                    /* by a message */
    bool is_failure_unreported;                   /* the dump, if there is one, does not say it */
    bool has_tried_dump;                          /* to begin it; there is no second try */
    bool is_held;   /* by a seal: they were enabled before and are not now */
    bool is_sealed; /* the dump has its end, for an exec */
    bool has_reported_refused_threads;
    uint32_t reported_holds; /* of the session's */
    bool has_reported_no_samples;
    uint32_t nr_changes_reported; /* of the session's */
    bool is_early;                /* its file is there, though there is nothing to store */
    bool saw_thread_end;          /* since the last look at the host's threads */
};

/* Opens everything, the events off. On failure it is closed, but `failure` stays. */
YARN_MUST_CHECK int yarn_recording_open(struct yarn_recording *recording,
                                        const struct yarn_job *job, struct yarn_messages *messages);

/* Notes what ends the recording; the first time counts. */
int yarn_recording_fail(struct yarn_recording *recording, const char *what, int err);

/* Begins with the events on; or stopped by the user's options, where the process has used used_ns
 * of CPU time by itself before. */
void yarn_recording_begin(struct yarn_recording *recording);
void yarn_recording_begin_off(struct yarn_recording *recording, uint64_t used_ns);

/* The dump's file and preamble, at the first thing that is worth a dump. False where none can be
 * had: then nothing is recorded any more. */
bool yarn_recording_begin_dump(struct yarn_recording *recording);

/* Creates its file, because that could not be done later: stays empty, and is removed again where
 * that is still allowed, unless something comes. False where it was done before, or cannot be. */
bool yarn_recording_reserve(struct yarn_recording *recording);

/* One look into the rings, to be followed by yarn_recording_settle. *ret_has_news: as of
 * yarn_merge_pass. */
size_t yarn_recording_drain(struct yarn_recording *recording, bool *ret_has_news);

/* As a drain, but of everything that is in the rings at this moment. */
void yarn_recording_drain_all(struct yarn_recording *recording, bool *ret_has_news);

/* Names and stores what was drained, where a flush is due or the queue is filling, and for at most
 * a while, so that no ring fills meanwhile; closes the modules' files. True where nothing is left.
 */
bool yarn_recording_settle(struct yarn_recording *recording, bool is_due);

/* Brings what was drained into the file. */
void yarn_recording_flush(struct yarn_recording *recording);

/* A mark of a host thread. */
void yarn_recording_mark(struct yarn_recording *recording, uint64_t time_ns, uint32_t tid,
                         const char *text);

/* Disables the events, drains to the last record and flushes. */
void yarn_recording_halt(struct yarn_recording *recording);

/* By the user's wish: as a halt, until resumed. What is so already stays so. */
void yarn_recording_pause(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause);
void yarn_recording_resume(struct yarn_recording *recording, enum yarn_dump_coverage_cause cause);

/* Says a start or stop again where that is due: the kernel lets an event that a thread inherits at
 * the moment of one miss it. How long until the next time; UINT64_MAX: not again. */
uint64_t yarn_recording_confirm(struct yarn_recording *recording, uint64_t now_ns);

/* The host is about to change its root: the dump is begun, and what is read later is opened now.
 * Harmless once more. */
void yarn_recording_leave_root(struct yarn_recording *recording);

/* As yarn_session_heed. */
void yarn_recording_heed(struct yarn_recording *recording);

/* True where no thread of the host is left but the reader. */
bool yarn_recording_is_alone(struct yarn_recording *recording);

/* Drains what is there and closes the dump with an END, which later records take back. */
void yarn_recording_seal(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                         int status);

/* After a seal, where the host goes on after all. */
void yarn_recording_unseal(struct yarn_recording *recording);

/* As a halt; then seals the dump and closes everything. */
void yarn_recording_end(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                        int status);

/* Gives everything back, without a word in the dump. Idempotent. */
void yarn_recording_close(struct yarn_recording *recording);
