/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How far work has come that takes longer than a second: a bar on standard error, if that is a
 * terminal; elsewhere nothing. It is gone before anything else is printed.
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"

struct yarn_progress {
    const char *what; /* borrowed: "reading" */
    uint64_t begun_ns, drawn_ns;
    bool is_on, is_drawn;
};

struct yarn_progress yarn_progress_begin(const char *what);
/* As often as one likes: it is drawn a few times a second. */
void yarn_progress_show(struct yarn_progress *progress, uint64_t done, uint64_t all);
/* Idempotent. */
void yarn_progress_end(struct yarn_progress *progress);
