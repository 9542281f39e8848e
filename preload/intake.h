/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of each record of the kernel: a sample, a thread, a module, a loss in the dump. The
 * recording's listener. Reader thread only.
 */
#pragma once

#include "preload/recording.h"

/* Tells `recording` of every record; it outlives the listener. */
struct yarn_record_listener yarn_intake_of(struct yarn_recording *recording);
