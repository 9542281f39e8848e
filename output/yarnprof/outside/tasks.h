/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The processes that are to be attached to: those that the user named and, if asked for, all that
 * descend from them now, never the calling one. A number that the user gave is a process for as
 * long as its descriptor says so. Threads: one.
 */
#pragma once

#include <sys/types.h>

#include "core/base/base.h"

enum { YARN_TASKS_NAMED_MAX = 64 };

struct yarn_tasks {
    struct {
        pid_t pid;
        int fd; /* owned: a pidfd */
    } named[YARN_TASKS_NAMED_MAX];
    size_t nr_named;
    bool has_tree; /* descendants, too */
    bool has_all;  /* every process; none is named */
    pid_t *pids;   /* owned: of the latest listing */
    size_t count, capacity;
};

/* "PID[,PID…]"; NULL: all. -EINVAL: no such list; -ESRCH: *ret_pid is no process, or another
 * negative errno of it. */
YARN_MUST_CHECK int yarn_tasks_open(struct yarn_tasks *tasks, const char *list, bool has_tree,
                                    pid_t *ret_pid);

/* Lists the processes that live now, in `pids`; a negative errno. */
YARN_MUST_CHECK int yarn_tasks_list(struct yarn_tasks *tasks);

/* One of those that the user named lives. */
bool yarn_tasks_are_alive(const struct yarn_tasks *tasks);

/* Idempotent. */
void yarn_tasks_close(struct yarn_tasks *tasks);
