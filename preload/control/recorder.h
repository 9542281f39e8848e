/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The recorder of one process, for host threads: they start and end its reader thread, give it
 * commands and wait for them. A wait ends when the reader has used no CPU time for 50 ms, or for
 * 1 s while it is at work (a disk keeps it); but one
 * for rights that the host gives up, or for what would harm it, only when the command is done.
 *
 * A child's start is deferred: one that execs or exits at once adds its CPU time to the child times
 * of the nearest recorded ancestor, and costs nothing else.
 *
 * Knows threads and commands; does not know what is recorded (recording) or when the host ends
 * (lifecycle).
 */
#pragma once

#include "core/sys/futex.h"
#include "preload/control/shared.h"

/* Makes a recorder from the environment and waits, at most a second, until it records or has
 * failed; where only a call of the program's can start it, there is no reader before. On failure
 * *line is the message for the user, or empty. */
YARN_MUST_CHECK int yarn_recorder_start(struct yarn_recorder **ret_recorder, int argc,
                                        char *const argv[], char *const envp[],
                                        struct yarn_text *line);

/* Starts the reader of a recorder that only waits for the program's calls, stopped; no effect on
 * another. For a change of rights or of the root that it has to follow. Async-signal-safe. */
void yarn_recorder_rouse(struct yarn_recorder *recorder);

/* In a forked child, on its only thread: the copy of the parent's recorder becomes the child's,
 * whose start is deferred. Never blocks. Async-signal-safe. */
void yarn_recorder_inherit(struct yarn_recorder *recorder);

/* Ends the recording and its thread so that another can follow; `why` goes into the dump. Returns
 * when the thread has gone; false where nothing recorded, or another host thread ends it. */
bool yarn_recorder_stop(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                        const char *why);

/* Before the host sets a seccomp filter: everything up to now is in the dump when it returns. True
 * where the filter would affect the reader, so that the recording has ended. */
bool yarn_recorder_begin_filter(struct yarn_recorder *recorder, bool is_for_all_threads);

/* After the filter was set, without a system call: the reader ends the recording as soon as it sees
 * it. Returns when it has gone. */
void yarn_recorder_leave(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                         const char *why);

/* Another recording of the same process, where the one before has ended; as start, but
 * without a message: the sealed dump says why it ended. */
void yarn_recorder_restart(struct yarn_recorder *recorder);

/* Hands a command over and waits until it is done. -ETIMEDOUT, or -ESRCH where nothing
 * records, for callers that can report it. A reader that is slow sees the command at its next turn.
 */
int yarn_recorder_command(struct yarn_recorder *recorder, enum yarn_recorder_command command);

/* Stores a mark. -EAGAIN where too many wait, -EMSGSIZE where it is too long. Async-signal-safe. */
YARN_MUST_CHECK int yarn_recorder_mark(struct yarn_recorder *recorder, const char *text);

/* Gives the reader the credentials of the calling thread; where it cannot assume them, it has
 * ended. With `can_wait` it has them from its next turn on, and is not woken for that. */
void yarn_recorder_follow_ids(struct yarn_recorder *recorder, bool can_wait);

/* The reader takes the rules of Landlock that the calling thread has just taken; where it cannot,
 * it has ended. */
void yarn_recorder_follow_rules(struct yarn_recorder *recorder, int ruleset);

/* By a host thread that is about to make another: a program that has threads has begun to be
 * recorded, so that none is older than its events. */
void yarn_recorder_expect_threads(struct yarn_recorder *recorder);

/* True where events sample other processes, too: then the recording must end before rights change.
 */
bool yarn_recorder_watches_others(struct yarn_recorder *recorder);

/* Writes why the recording failed, where no dump says so; false where there is nothing to report,
 * or it was reported. */
bool yarn_recorder_report_failure(struct yarn_recorder *recorder, struct yarn_text *line);

/* New messages go into the log file. */
void yarn_recorder_log(struct yarn_recorder *recorder);

/* Ends the recording: every sample up to the call is in the sealed dump when it returns, unless
 * the reader does not answer in time. Idempotent. */
void yarn_recorder_end(struct yarn_recorder *recorder, enum yarn_dump_end_reason reason,
                       int status);
