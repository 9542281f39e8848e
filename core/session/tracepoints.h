/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the raw bytes of tracepoints' samples are to be read, as tracefs says it.
 *
 * Private to core/session. Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "core/session/state.h"

/* The `format` of each. */
void yarn_tracepoints_read(struct yarn_session *session);
