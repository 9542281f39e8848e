/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The programs of a tree that the kernel took the events from as they were executed: those that
 * gain rights (set-uid, set-gid, file capabilities), or may be executed and not read. By name, and
 * how often. What descends from them is not known at all.
 *
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"

enum { YARN_UNFOLLOWED_NAMES = 16, YARN_UNFOLLOWED_NAME_BYTES = 16 };

struct yarn_unfollowed {
    struct {
        char name[YARN_UNFOLLOWED_NAME_BYTES];
        size_t count;
    } programs[YARN_UNFOLLOWED_NAMES];
    size_t nr_names;
    size_t nr_others; /* of names that there was no room for */
};

void yarn_unfollowed_add(struct yarn_unfollowed *unfollowed, const char *name);

/* A line each, on standard error. */
void yarn_unfollowed_report(const struct yarn_unfollowed *unfollowed);
