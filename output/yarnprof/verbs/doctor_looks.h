/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What yarnprof doctor looks at: the variables, the command's file, the folder of dumps, and what a
 * trial recording got. Threads: one.
 */
#pragma once

#include "core/config/options.h"
#include "output/yarnprof/verbs/doctor_findings.h"
#include "output/yarnprof/verbs/doctor_trial.h"

/* /proc and the library. False: nothing can be recorded, and the rest is not asked for. */
YARN_MUST_CHECK bool yarn_doctor_look_at_place(struct yarn_findings *findings, char *ret_preload,
                                               size_t size);
/* Whether the preload gets into it, what names it has, and those of its runtime. */
void yarn_doctor_look_at_command(struct yarn_findings *findings, const struct yarn_options *options,
                                 const char *command);
/* Whether it waits for something. */
void yarn_doctor_look_at_start(struct yarn_findings *findings, const struct yarn_options *options);
void yarn_doctor_look_at_folder(struct yarn_findings *findings, const struct yarn_options *options);
/* Sampler, kernel, rings, clock rate, events, switches, tracepoints. */
void yarn_doctor_look_at_trial(struct yarn_findings *findings, const struct yarn_options *options,
                               const struct yarn_doctor_trial *trial);
