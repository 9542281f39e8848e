/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A failure ended a recording early or prevented it; the first one counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct yarn_failure {
    const char *what; /* a static sentence; NULL: none */
    int error;        /* negative errno; 0 */
    bool is_reported; /* by a message */
    bool is_of_start; /* nothing was recorded before */
    bool is_unstored; /* the dump, if there is one, does not say it */
};

static inline int yarn_failure_note(struct yarn_failure *failure, const char *what, int err)
{
    if (!failure->what) {
        failure->what = what;
        failure->error = err;
    }
    return err;
}
