/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A verb's command line: the table of its options, and what goes with it.
 */
#pragma once

#include "core/base/base.h"
#include "output/yarnprof/io/argument.h"

struct yarn_command {
    const char *verb;
    const char *operands; /* "FILE…" */
    const char *about;    /* a sentence */
    const struct yarn_argument *arguments;
    bool stops_at_operand; /* what follows the first operand is not ours */
    /* 0, or -EINVAL with what is expected (a phrase). `value` NULL: none was given. */
    int (*take)(void *self, int id, const char *value, const char **ret_right);
    void *self;
};
