/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What yarnprof doctor finds: a line each, with how well it is and the setting that mends it.
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"
#include "core/config/options.h"
#include "core/event/parse.h"
#include "output/analysis/load/load.h"
#include "output/yarnprof/io/out.h"

enum yarn_finding_state { YARN_FINDING_GOOD, YARN_FINDING_LIMIT, YARN_FINDING_BAD };

enum { YARN_FINDINGS_MAX = 64, YARN_FINDING_BYTES = 1536 };

struct yarn_finding {
    enum yarn_finding_state state;
    const char *subject;           /* static; a word or two */
    char what[YARN_FINDING_BYTES]; /* a clause */
    char mend[YARN_FINDING_BYTES]; /* the setting that mends it; empty: none, or nothing to mend */
};

struct yarn_findings {
    struct yarn_finding list[YARN_FINDINGS_MAX];
    size_t count;
};

/* The clause, as printf. Its mend is "". */
struct yarn_finding *yarn_findings_add(struct yarn_findings *findings,
                                       enum yarn_finding_state state, const char *subject,
                                       const char *format, ...) YARN_PRINTF(4, 5);
/* What mends the last one. */
void yarn_findings_mend(struct yarn_findings *findings, const char *format, ...) YARN_PRINTF(2, 3);

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

/* /proc and the library. False: nothing can be recorded, and the rest is not asked for. */
YARN_MUST_CHECK bool yarn_doctor_check_place(struct yarn_findings *findings, char *ret_preload,
                                             size_t size);
/* Whether the preload gets into it, what names it has, and those of its runtime. */
void yarn_doctor_check_command(struct yarn_findings *findings, const struct yarn_options *options,
                               const char *command);
/* Whether it waits for something. */
void yarn_doctor_check_start(struct yarn_findings *findings, const struct yarn_options *options);
void yarn_doctor_check_folder(struct yarn_findings *findings, const struct yarn_options *options);
/* Sampler, kernel, rings, clock rate, events, switches, tracepoints. */
void yarn_doctor_check_trial(struct yarn_findings *findings, const struct yarn_options *options,
                             const struct yarn_doctor_trial *trial);
