/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of the tool: one file and one row each. Threads: one.
 */
#pragma once

#include "output/yarnprof/options/arguments.h"

extern const struct yarn_command yarn_verb_record;
extern const struct yarn_command yarn_verb_list;
extern const struct yarn_command yarn_verb_doctor;
extern const struct yarn_command yarn_verb_stat;
extern const struct yarn_command yarn_verb_ctl;
extern const struct yarn_command yarn_verb_report;
extern const struct yarn_command yarn_verb_annotate;
extern const struct yarn_command yarn_verb_script;
extern const struct yarn_command yarn_verb_sched;
extern const struct yarn_command yarn_verb_export;
extern const struct yarn_command yarn_verb_push;
extern const struct yarn_command yarn_verb_diff;
extern const struct yarn_command yarn_verb_flamegraph;
extern const struct yarn_command yarn_verb_merge;
extern const struct yarn_command yarn_verb_info;
extern const struct yarn_command yarn_verb_verify;
