/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recording of processes that run already, until they end, a time is over or SIGINT comes. They
 * go on untouched.
 *
 * Threads: one; one recording at a time.
 */
#pragma once

#include "output/yarnprof/io/written.h"

struct yarn_attach {
    const char *pids;            /* "PID[,PID…]"; NULL: every process of the machine */
    bool has_tree;               /* with all that descend from them */
    bool has_recorded;           /* it was attached to */
    struct yarn_own_dumps dumps; /* to be freed by yarn_own_dumps_fini */
    bool has_failed;             /* a dump could not be written, which was said */
};

/* An exit status; complains itself. The rest of what is wanted is read from the variables of the
 * environment. */
YARN_MUST_CHECK int yarn_attach_run(struct yarn_attach *attach);
