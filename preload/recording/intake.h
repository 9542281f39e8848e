/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of each record of the kernel: a sample (by way of the queue), a thread, a module, a
 * loss in the dump. The
 * recording's listener. Reader thread only.
 */
#pragma once

#include "preload/recording/recording.h"

/* Names and stores the samples that are queued, until the queue is empty or the clock reaches
 * `until_ns`. True where it is empty. */
bool yarn_intake_settle(struct yarn_recording *recording, uint64_t until_ns);

/* Tells `recording` of every record; it outlives the listener. */
struct yarn_record_listener yarn_intake_of(struct yarn_recording *recording);
