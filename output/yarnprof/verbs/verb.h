/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The verbs of the tool: one file and one row each. Threads: one.
 */
#pragma once

#include "core/base/base.h"

/* argv[0] is the verb; an exit status. */
typedef int yarn_verb_fn(int argc, char **argv);

struct yarn_verb {
    const char *name;
    const char *about; /* a phrase for the list of verbs */
    yarn_verb_fn *run;
};

yarn_verb_fn yarn_verb_record;
yarn_verb_fn yarn_verb_list;
yarn_verb_fn yarn_verb_doctor;
yarn_verb_fn yarn_verb_stat;
yarn_verb_fn yarn_verb_ctl;
yarn_verb_fn yarn_verb_report;
yarn_verb_fn yarn_verb_annotate;
yarn_verb_fn yarn_verb_script;
yarn_verb_fn yarn_verb_sched;
yarn_verb_fn yarn_verb_export;
yarn_verb_fn yarn_verb_push;
yarn_verb_fn yarn_verb_diff;
yarn_verb_fn yarn_verb_flamegraph;
yarn_verb_fn yarn_verb_merge;
yarn_verb_fn yarn_verb_info;
yarn_verb_fn yarn_verb_verify;
