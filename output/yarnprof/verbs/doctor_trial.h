/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recording of a tenth of a second of work, in the tool's own program, under the variables that
 * are set: what it got is what a command would get here. Threads: one.
 */
#pragma once

#include "output/analysis/load/load.h"

struct yarn_doctor_trial {
    struct yarn_profile profile;
    const struct yarn_profile_dump *dump; /* of the profile; NULL: there is none */
    char line[1024];                      /* what the preload said; empty: nothing */
};

#define YARN_DOCTOR_TRIAL_WORD "--work-for-the-trial"

/* The work itself, in the process that is recorded. */
void yarn_doctor_trial_work(void);

/* A negative errno where it could not be run. */
YARN_MUST_CHECK int yarn_doctor_trial_run(struct yarn_doctor_trial *trial, const char *preload);
void yarn_doctor_trial_fini(struct yarn_doctor_trial *trial);
