/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A crowd: more threads than eight a core run or wait for one. Then a grace period of the kernel
 * takes as long as its own threads wait, and a reader without the right to go ahead comes late.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* One that was there less than 100 ms ago still is. */
bool yarn_crowd_waits(struct yarn_session *session, uint64_t now_ns);

/* The host has made so many threads that they may be it. As it was less than 100 ms ago. */
bool yarn_crowd_is_host(struct yarn_session *session, uint64_t now_ns);

/* After each drain: in a crowd that may be the host's, the reader's turns on a core are as long as
 * anybody's. Why: it needs more than its share then, so it always waits, and while one waits that
 * asked for short turns the kernel (Linux 6.18) ends those of the others as early. */
void yarn_crowd_after_drain(struct yarn_session *session);
