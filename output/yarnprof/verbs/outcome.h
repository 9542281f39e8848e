/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What came of a recording, in one line on standard error: what was written, or why nothing was and
 * what leads on. Threads: one.
 */
#pragma once

#include "output/yarnprof/io/written.h"
#include "output/yarnprof/verbs/unrecorded.h"

struct yarn_outcome {
    struct yarn_unrecorded unrecorded; /* the command, and where its dumps go */
    const char *fault;                 /* a bad variable, in words; NULL: none */
};

void yarn_outcome_report(const struct yarn_outcome *outcome, const struct yarn_written *written);
