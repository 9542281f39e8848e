/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recorder of one process: the reader thread, and the way in which host threads talk to it.
 *
 *     fork's child ── inherit ──> DEFERRED <──> LEAVING (exec)
 *                                    │ 5 ms       │
 *                                    v            v
 *     constructor ── start ──> STARTING         ENDED
 *                                 │ │
 *                      FAILED <───┘ └──> RUNNING <──> PAUSED
 *                                           │            │
 *                                           v            v
 *                                         ENDED <────────┘
 *
 * A child's start is deferred: one that execs or exits at once adds its CPU time to the
 * charges of the nearest recorded process above it, and that is all it costs.
 *
 * Host threads hand over commands in one word of memory and sleep until the reader has done them
 * (requests.h): no lock is shared, no descriptor, and a host thread never touches a ring, the dump
 * or anything else of the recording. A wait ends 50 ms after the reader's CPU time has last moved,
 * one for what the host gives up or would be harmed by only when it is done.
 *
 * Knows threads and commands; does not know what is recorded (recording) or when the host ends
 * (lifecycle).
 */
#pragma once

#include <stdatomic.h>

#include "core/sys/thread.h"
#include "output/dump/types.h"
#include "preload/account/charges.h"
#include "preload/control/control_socket.h"
#include "preload/control/ids_queue.h"
#include "preload/control/marks.h"
#include "preload/control/requests.h"
#include "preload/control/schedule.h"
#include "preload/dump/messages.h"
#include "preload/process/job.h"
#include "preload/recording/recording.h"

enum yarn_recorder_state {
    YARN_RECORDER_DEFERRED,
    YARN_RECORDER_LEAVING,
    YARN_RECORDER_STARTING,
    YARN_RECORDER_RUNNING,
    YARN_RECORDER_PAUSED,
    YARN_RECORDER_ENDED,
    YARN_RECORDER_FAILED,
};

/* In the order in which they are done where several wait; without bound are the first three. */
enum yarn_recorder_command {
    YARN_RECORDER_FOLLOW_IDS,
    YARN_RECORDER_LEAVE_ROOT, /* before: opens what it will need; after: has nothing else open */
    YARN_RECORDER_HEED,
    YARN_RECORDER_EXPECT_FILTER, /* from now on host threads hand commands over by memory alone */
    YARN_RECORDER_RESUME,
    YARN_RECORDER_PAUSE, /* by the program */
    YARN_RECORDER_FLUSH,
    YARN_RECORDER_EXEC, /* as if it were the end, which the host takes back where the exec fails */
    YARN_RECORDER_END,
    YARN_RECORDER_COMMAND_COUNT,
};

struct yarn_recorder {
    struct yarn_job job;
    /* What a child writes before it records is together, from the job's facts to the marks' head:
     * each page that it writes is copied for it. */
    struct yarn_thread thread;
    _Atomic uint32_t state;        /* enum yarn_recorder_state; woken at each change */
    struct yarn_requests requests; /* bit n: enum yarn_recorder_command */
    _Atomic uint32_t is_left;      /* a host thread has ended the reader and may start another */
    _Atomic uint64_t end;          /* enum yarn_dump_end_reason, and above it the status */
    _Atomic uint32_t nr_in_exec;   /* the dump has its end: no more records for now */
    _Atomic uint32_t is_behind_filter;    /* host threads make no call for us any more */
    _Atomic uint32_t is_polling;          /* the reader sleeps in poll: only a signal wakes it */
    _Atomic uint32_t paused_by;           /* where it is PAUSED; enum yarn_dump_coverage_cause */
    struct yarn_charges *_Atomic charges; /* owned; of children; NULL before the recording */
    struct yarn_charges *_Atomic above;   /* of the process that forked this one; NULL */
    uint64_t charged_ns;                  /* there, by the reader or before an exec */
    const char *stop_reason;              /* a static sentence; NULL */
    bool starts_paused, is_deferred;      /* a child whose recording has not begun */
    int host_signal;                      /* the reader's: of which the process has to die; 0 */
    bool expects_filter; /* the reader's: it has to look at memory, nobody wakes it */
    struct yarn_schedule schedule;
    struct yarn_ids_queue ids;     /* that the reader is to take */
    _Atomic uint32_t drops_bounds; /* the host has dropped a capability from its bounding set */
    bool has_unsaved; /* a flush has to bring something into the file though nothing is sampled */
    uint32_t nr_messages_logged;
    struct yarn_marks marks;
    struct yarn_messages messages;
    struct yarn_control_socket control;
    struct yarn_recording recording; /* the reader thread's */
};

/* Makes a recorder from the environment and waits, at most a second, until it records or has
 * failed. On failure *line holds what to tell the user, or is empty. */
YARN_MUST_CHECK int yarn_recorder_start(struct yarn_recorder **ret_recorder, int argc,
                                        char *const argv[], char *const envp[],
                                        struct yarn_text *line);

/* In a child after fork, of its one thread: what was the parent's recorder becomes the child's,
 * which waits, then records. Never waits. Async-signal-safe. */
void yarn_recorder_inherit(struct yarn_recorder *recorder);

/* Ends the recording and its thread so that another can follow; `why` goes into the dump. Returns
 * when the thread has gone; false where nothing recorded, or another host thread ends it. */
bool yarn_recorder_stop(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                        const char *why);

/* Before the host sets a system call filter: everything up to now is in the dump when it returns.
 * True where the filter would reach what we do, so that the recording has ended. */
bool yarn_recorder_begin_filter(struct yarn_recorder *recorder, bool is_for_all_threads);

/* Behind the filter, without a system call: the reader ends the recording as soon as it sees it;
 * waits for that. */
void yarn_recorder_leave(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                         const char *why);
void yarn_recorder_spin_until_gone(const struct yarn_recorder *recorder);

/* Another recording of the same process, where the one before has ended; as start. */
YARN_MUST_CHECK int yarn_recorder_restart(struct yarn_recorder *recorder, struct yarn_text *line);

/* Around an exec, of several threads at once, too: the second where it failed. */
void yarn_recorder_begin_exec(struct yarn_recorder *recorder);
void yarn_recorder_fail_exec(struct yarn_recorder *recorder);

/* Hands a command over and waits until it is done. -ETIMEDOUT, -ESRCH where nothing records. */
YARN_MUST_CHECK int yarn_recorder_command(struct yarn_recorder *recorder,
                                          enum yarn_recorder_command command);

/* Stores a mark. -EAGAIN where too many wait, -EMSGSIZE where it is too long. Async-signal-safe. */
YARN_MUST_CHECK int yarn_recorder_mark(struct yarn_recorder *recorder, const char *text);

/* Gives the reader the rights of the calling thread; where it cannot take them, it has gone. */
void yarn_recorder_follow_ids(struct yarn_recorder *recorder);

/* True where cores' clocks show other processes: the recording has to end before any right goes. */
bool yarn_recorder_watches_cores(struct yarn_recorder *recorder);

/* Writes why the recording failed, where no dump says so; false where there is nothing to tell, or
 * it was told. */
bool yarn_recorder_tell_failure(struct yarn_recorder *recorder, struct yarn_text *line);

/* Ends the recording: every sample up to the call is in the sealed dump when it returns, unless
 * the reader does not answer in time. Idempotent. */
void yarn_recorder_end(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                       int status);
