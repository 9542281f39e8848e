/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The commands to the reader: of host threads (the command word), of clients of the control socket,
 * of the schedule. Knows what each means for the recording; does not know when they are looked for
 * (reader_thread) or how they come (recorder, control_socket).
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "preload/control/shared.h"

/* By the reader: where the host has dropped a capability from its bounding set, it drops all. */
void yarn_commands_drop_bounds(struct yarn_recorder *recorder);

/* Where a control socket is wanted, makes it; what comes in its way goes into the messages. */
void yarn_commands_open_socket(struct yarn_recorder *recorder);

/* Begins the recording as it is to begin: on, or stopped. */
void yarn_commands_begin(struct yarn_recorder *recorder);

/* What the host wants; false where that was the end. */
bool yarn_commands_run(struct yarn_recorder *recorder);
/* Those of them that need nothing of what lies in the rings, before it is read. */
void yarn_commands_run_urgent(struct yarn_recorder *recorder);

/* What clients want, and what is due now. */
void yarn_commands_serve(struct yarn_recorder *recorder);
void yarn_commands_keep_schedule(struct yarn_recorder *recorder, uint64_t now_ns);
