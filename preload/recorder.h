/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recorder of one process: the reader thread, and the way in which host threads talk to it.
 *
 *     constructor ── start ──> STARTING ──> RUNNING <──> PAUSED
 *                                 │            │            │
 *                                 v            v            v
 *                              FAILED        ENDED <────────┘
 *
 * Host threads hand over one command at a time in one word of memory and sleep on it until the
 * reader has set it back: no lock is shared, no descriptor, and a host thread never touches a ring,
 * the dump or anything else of the recording. Every wait is bounded.
 *
 * Knows threads and commands; does not know what is recorded (recording) or when the host ends
 * (lifecycle).
 */
#pragma once

#include "core/sys/ids.h"
#include "core/sys/thread.h"
#include "output/dump/types.h"
#include "preload/job.h"
#include "preload/messages.h"
#include "preload/recording.h"

enum yarn_recorder_state {
    YARN_RECORDER_STARTING,
    YARN_RECORDER_RUNNING,
    YARN_RECORDER_PAUSED,
    YARN_RECORDER_ENDED,
    YARN_RECORDER_FAILED,
};

enum yarn_recorder_command {
    YARN_RECORDER_NONE,
    YARN_RECORDER_FLUSH,
    YARN_RECORDER_PAUSE,
    YARN_RECORDER_RESUME,
    YARN_RECORDER_FOLLOW_IDS,
    YARN_RECORDER_END,
};

enum { YARN_MARKS_MAX = 64, YARN_MARK_BYTES = 240 };

struct yarn_mark {
    _Atomic uint32_t state; /* free, being written, written */
    uint32_t tid;
    uint64_t time_ns;
    char text[YARN_MARK_BYTES];
};

struct yarn_recorder {
    struct yarn_job job;
    struct yarn_messages messages;
    struct yarn_thread thread;
    _Atomic uint32_t state;   /* enum yarn_recorder_state; woken at each change */
    _Atomic uint32_t command; /* enum yarn_recorder_command; woken when set back */
    _Atomic uint32_t is_busy; /* a host thread is handing over a command */
    _Atomic uint32_t end_reason;
    _Atomic int32_t end_status;
    struct yarn_ids ids; /* that the reader is to take; written by who holds is_busy */
    struct yarn_mark marks[YARN_MARKS_MAX];
    uint32_t nr_messages_logged;
    struct yarn_recording recording; /* the reader thread's */
};

/* Makes a recorder from the environment and waits, at most a second, until it records or has
 * failed. On failure *line holds what to tell the user, or is empty. */
YARN_MUST_CHECK int yarn_recorder_start(struct yarn_recorder **ret_recorder, int argc,
                                        char *const argv[], char *const envp[],
                                        struct yarn_text *line);

/* True in the process that started it and in no other (a fork or vfork child). */
bool yarn_recorder_is_ours(const struct yarn_recorder *recorder);

/* Hands a command over and waits until it is done. -ETIMEDOUT, -ESRCH where nothing records. */
YARN_MUST_CHECK int yarn_recorder_command(struct yarn_recorder *recorder,
                                          enum yarn_recorder_command command);

/* Stores a mark. -EAGAIN where too many wait. Async-signal-safe. */
YARN_MUST_CHECK int yarn_recorder_mark(struct yarn_recorder *recorder, const char *text);

/* Gives the reader the rights that the calling thread has; it ends the recording where it cannot
 * take them. */
void yarn_recorder_follow_ids(struct yarn_recorder *recorder);

/* Ends the recording: every sample up to the call is in the sealed dump when it returns, unless
 * the reader does not answer in time. Idempotent. */
void yarn_recorder_end(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                       int status);
