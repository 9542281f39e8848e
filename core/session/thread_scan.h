/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Finds the host's threads, all of them, while more may be coming: for attachments whose events
 * the threads that come later inherit. A thread that was made by one that had no events yet has
 * none either (KF 2), so the list is read until two readings are alike.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* Reports to the listener, if there is one, what the kernel would report of the thread: that it is
 * there (YARN_RECORD_FORK), has ended (EXIT), or what it is called (COMM), if that is known. */
void yarn_thread_report(enum yarn_record_type type, pid_t pid, pid_t tid, const char *name,
                        const struct yarn_record_listener *listener);

/* -ESRCH: the thread has gone, which is no fault. */
typedef int (*yarn_thread_attach_fn)(struct yarn_session *session, pid_t tid);

/* Calls `attach` once for each thread but the caller. A failure is in the report. */
YARN_MUST_CHECK int yarn_thread_scan(struct yarn_session *session, yarn_thread_attach_fn attach);
