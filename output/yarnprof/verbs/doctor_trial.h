/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recording of a tenth of a second of work, in the tool's own program, under the variables that
 * are set: what it got is what a command would get here. Threads: one.
 */
#pragma once

#include "core/config/options.h"
#include "core/event/parse.h"
#include "output/analysis/load/load.h"

struct yarn_doctor_trial {
    struct yarn_profile profile;
    const struct yarn_profile_dump *dump; /* of the profile; NULL: there is none */
    char line[1024];                      /* what the preload said; empty: nothing */
    bool is_unrun;                        /* no process could be made for it */
    bool has_no_events;                   /* all that are asked for depend on the command */
};

#define YARN_DOCTOR_MORE_TASKS                                                                     \
    "ulimit -u, and pids.max of the control group, must leave room for another one"

#define YARN_DOCTOR_TRIAL_WORD "--work-for-the-trial"

/* The work itself, in the process that is recorded. */
void yarn_doctor_trial_work(void);

/* A breakpoint at a symbol: of the command, which is not run. */
static inline bool yarn_doctor_is_of_command(const struct yarn_event_spec *spec)
{
    return spec->kind == YARN_EVENT_BREAKPOINT && spec->site.symbol;
}

/* Without the events that are of the command. A negative errno where it could not be run. */
YARN_MUST_CHECK int yarn_doctor_trial_run(struct yarn_doctor_trial *trial, const char *preload,
                                          const struct yarn_options *options);
void yarn_doctor_trial_fini(struct yarn_doctor_trial *trial);
