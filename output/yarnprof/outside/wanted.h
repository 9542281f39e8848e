/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What is wanted of a recording from outside, of the variables of the environment: its job, and the
 * request of its session. What only a guest can do is refused by name. Threads: one.
 */
#pragma once

#include "core/session/request.h"
#include "recording/process/job.h"

/* 0, or an exit status: it has complained. Once in a process. */
YARN_MUST_CHECK int yarn_wanted_read(struct yarn_job *job, char *const argv[]);

/* Of the process and all that descends from it. */
struct yarn_session_request yarn_wanted_request(const struct yarn_job *job,
                                                const struct yarn_target *target);
