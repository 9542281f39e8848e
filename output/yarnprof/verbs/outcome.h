/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What came of a recording, in one line on standard error: what was written, or why nothing was and
 * what leads on. Threads: one.
 */
#pragma once

#include "core/base/text.h"
#include "core/config/options.h"
#include "output/yarnprof/io/written.h"

struct yarn_unrecorded {
    const char *command; /* as argv[0] */
    const struct yarn_options *options;
    const char *folder; /* where dumps go */
    uint64_t cpu_ns;    /* of the command and its children */
    uint64_t life_ns;
    bool is_outside; /* recorded by the tool: nothing is known of the command */
    bool is_told;    /* a line before says why */
};

/* Writes a file as large as a chunk there, which has no name and is gone at once; of a folder that
 * is to be made, in the one where it will be. */
YARN_MUST_CHECK int yarn_unrecorded_try_to_write(const char *folder);

/* YARN_COMM has a pattern of it: of its name, or of the file that runs. */
bool yarn_unrecorded_is_of(const char *comm, const char *command);

struct yarn_outcome {
    struct yarn_unrecorded unrecorded; /* the command, and where its dumps go */
    const char *fault;                 /* a bad variable, in words; NULL: none */
};

void yarn_outcome_report(const struct yarn_outcome *outcome, const struct yarn_written *written);
