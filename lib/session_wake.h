/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A descriptor by which one thread, or a signal handler, ends another's poll(2).
 * Threads: any. Signals: yarn_session_wake_send is async-signal-safe.
 */
#pragma once

#include "core/base/base.h"

/* A close-on-exec descriptor, or a negative errno. */
YARN_MUST_CHECK int yarn_session_wake_open(void);

/* It polls readable from now on. */
void yarn_session_wake_send(int fd);

/* It does not any more. */
void yarn_session_wake_clear(int fd);
