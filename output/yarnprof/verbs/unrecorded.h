/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Why a command that was to be recorded left no dump: what its file is, whether the loader uses
 * LD_PRELOAD for it, whether it was asked for, whether a dump could be written. Looks after the
 * command has ended; does not know the preload, which says itself what it could not do. Threads:
 * one.
 */
#pragma once

#include "core/base/text.h"
#include "core/config/options.h"

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

/* A clause such as "sleep is statically linked; WAY OUT". */
void yarn_unrecorded_why(const struct yarn_unrecorded *unrecorded, struct yarn_text *ret_why);
