/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A command as a child: it is made, waits until it is let go, becomes the command, and its end is
 * waited for. Signals are passed on to it. Threads: one; one child at a time.
 */
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "core/base/base.h"

enum { YARN_SPAWN_PASSED = 4 }; /* signals */

struct yarn_spawn {
    pid_t pid;
    int gate;   /* owned; a byte lets the child go */
    int report; /* owned; the errno where it could not become the command */
    sigset_t mask_before;
    struct sigaction before[YARN_SPAWN_PASSED], child_before;
    bool is_over;
    int status; /* of wait(2) */
    struct rusage usage;
    uint64_t begin_ns, end_ns; /* CLOCK_MONOTONIC */
};

/* What the child does first; a negative errno ends it. */
typedef int yarn_spawn_prepare_fn(const void *self);

/* The child waits. `prepare` may be NULL. */
YARN_MUST_CHECK int yarn_spawn_start(struct yarn_spawn *spawn, char *const argv[],
                                     yarn_spawn_prepare_fn *prepare, const void *self);

/* Instead: it ends without having become the command. */
void yarn_spawn_cancel(struct yarn_spawn *spawn);

void yarn_spawn_release(struct yarn_spawn *spawn);

/* Of the clock that begin and end are of. */
uint64_t yarn_spawn_now_ns(void);

/* True: the child has ended. UINT64_MAX: no time-out. */
YARN_MUST_CHECK bool yarn_spawn_wait(struct yarn_spawn *spawn, uint64_t timeout_ns);

/* Waits for the end, and gives back all that was taken. *ret_status: the command's own, or 128 and
 * its signal. A negative errno where there was no command. */
YARN_MUST_CHECK int yarn_spawn_finish(struct yarn_spawn *spawn, int *ret_status);

/* A signal that ends came to this process: no other command is to be started. */
bool yarn_spawn_is_told_to_end(void);
