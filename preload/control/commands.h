/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The commands to the reader: of host threads (the command word), of clients of the control socket,
 * of the schedule. Knows what each means for the recording; does not know when they are polled
 * (reader_thread) or how they arrive (recorder, control_socket).
 *
 * Threads: the reader thread only. Signals: not safe.
 */
#pragma once

#include "preload/control/shared.h"

/* The reader drops its whole bounding set where the host has dropped a capability from its own. */
void yarn_commands_drop_bounds(struct yarn_recorder *recorder);

/* Creates the control socket, if one is configured; errors become messages. */
void yarn_commands_open_socket(struct yarn_recorder *recorder);

/* Begins the recording, started or stopped as configured. */
void yarn_commands_begin(struct yarn_recorder *recorder);

/* Executes the commands of host threads; false after the last one. */
bool yarn_commands_run(struct yarn_recorder *recorder);
/* Executes those that do not depend on records in the rings, before these are read. */
void yarn_commands_run_urgent(struct yarn_recorder *recorder);

/* Executes the commands of clients, and what the schedule has due. */
void yarn_commands_serve(struct yarn_recorder *recorder);
void yarn_commands_keep_schedule(struct yarn_recorder *recorder, uint64_t now_ns);
