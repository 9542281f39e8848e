/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recording from outside: the events of a command and of all that descends from it are opened by
 * this process, which reads their rings and writes the dumps, with nothing of ours in the command.
 *
 * Threads: one; one recording at a time.
 */
#pragma once

#include "output/yarnprof/io/written.h"

struct yarn_outside {
    char *const *argv;           /* the command */
    bool waits_for_tree;         /* not only for the command, but for all that descends from it */
    uint64_t cpu_ns, life_ns;    /* of the command and its children; life 0: it did not run */
    struct yarn_own_dumps dumps; /* to be freed by yarn_own_dumps_fini */
    bool has_failed;             /* a dump could not be written, which was said */
};

/* The request is read from the variables of the environment. The command's own status; complains
 * itself where it cannot be recorded or run. */
YARN_MUST_CHECK int yarn_outside_run(struct yarn_outside *outside);
