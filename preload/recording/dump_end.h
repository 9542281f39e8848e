/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How a dump ends: with what is known at the end and the reason, and where the disk or the file was
 * full before, with at least the reason. Knows the recording's parts; does not know what made it
 * end (reader_thread).
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "preload/recording/recording.h"

/* Why a dump could not be written, a static sentence; `err` is a negative errno. */
const char *yarn_dump_end_failure(int err);

/* Closes the dump with an END, which later records take back; nothing where none was begun. */
void yarn_dump_end_write(struct yarn_recording *recording, enum yarn_dump_end_reason reason,
                         int status);
