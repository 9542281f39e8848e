/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A line that a host thread writes for us into a file, pipe or terminal, of which nothing may come
 * but the line: no signal (SIGXFSZ over the limit of file size, SIGPIPE where nobody reads any
 * more, SIGTTOU from the background of a terminal), no part of it, no wait where there is no room.
 *
 * Threads: any. Signals: safe.
 */
#pragma once

#include "core/base/span.h"

enum { YARN_LINE_MAX = 4096 }; /* as PIPE_BUF: a pipe with room takes as much at once */

/* A negative errno where it was not written: -EFBIG, -EPIPE, -EAGAIN (no room at this moment, or
 * another thread is at it, or such a signal was pending already, from which ours could not be
 * distinguished), … */
YARN_MUST_CHECK int yarn_line_write(int fd, struct yarn_span line);

/* In a child after fork: the thread that was at it is not there. */
void yarn_line_leave_behind(void);
