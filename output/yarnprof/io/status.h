/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Exit statuses of the tool, and the one way in which it complains.
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"

enum {
    YARN_STATUS_OK = 0,
    YARN_STATUS_FAILED = 1, /* could not do it */
    YARN_STATUS_USAGE = 2,
    YARN_STATUS_UNMET = 3, /* a condition that was asked for does not hold */
    YARN_STATUS_CANNOT_RUN = 126,
    YARN_STATUS_NO_COMMAND = 127,
    YARN_STATUS_SIGNAL = 128, /* plus its number */
};

/* "yarnprof VERB: …" on standard error; `verb` NULL: "yarnprof: …". */
void yarn_complain(const char *verb, const char *format, ...) YARN_PRINTF(2, 3);
