/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the user steers a recording from outside: the commands of the socket of YARN_CONTROL, which
 * are the preload's, and the schedule of YARN_START, YARN_DELAY and YARN_DURATION. One for all of a
 * tree. Knows what they mean; does not know whom the recorder follows.
 *
 * Threads: one.
 */
#pragma once

#include "output/yarnprof/outside/recorder.h"
#include "recording/control/control_socket.h"
#include "recording/control/schedule.h"

struct yarn_steering {
    struct yarn_recorder_outside *recorder; /* borrowed */
    pid_t pid;          /* that `status` names: the command, the first that is attached to */
    bool ends_when_due; /* the recording, rather than that it is stopped */
    struct yarn_schedule schedule;
    struct yarn_control_socket control;
};

/* Of an open recorder. `exe`: the program's path, for the pattern of the socket. What cannot be had
 * is complained about. */
YARN_MUST_CHECK int yarn_steering_open(struct yarn_steering *steering,
                                       struct yarn_recorder_outside *recorder, pid_t pid,
                                       const char *exe);

/* Sleeps until there may be something to be done, at most that long. */
void yarn_steering_wait(const struct yarn_steering *steering, uint64_t most_ns);

/* What has come, and what is due. */
void yarn_steering_serve(struct yarn_steering *steering);

/* Idempotent. */
void yarn_steering_close(struct yarn_steering *steering);
