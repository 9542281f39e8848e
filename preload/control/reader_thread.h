/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The reader thread from its start to its end: sets itself up, opens the recording, drains and
 * flushes it in time, carries out commands, and ends on a command or when it is the last thread of
 * the process. Everything here runs in a thread that the C library does not know
 * (core/sys/thread.h).
 */
#pragma once

#include "preload/control/shared.h"

/* The exit code of the thread: the host's where the reader outlives it, else 0. */
int yarn_reader_thread_run(void *recorder);
