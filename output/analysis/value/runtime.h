/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Programs that run code of another language: what their files are called, which switch of theirs
 * gives names to generated or interpreted functions, and the variable that sets it. Threads: safe
 * anywhere.
 */
#pragma once

#include "core/base/base.h"

/* Python's functions have such names where it was asked for them. */
#define YARN_RUNTIME_NAMED "py::"

struct yarn_runtime {
    const char *files; /* shell patterns of programs and libraries, by comma */
    const char *name;
    const char *way; /* what a user types */
    const char *variable, *value;
    bool joins;       /* the variable may hold other options, which stay */
    bool is_safe;     /* a version that does not know it is not disturbed */
    bool interprets;  /* functions run in the program's own code, and not in generated code */
    const char *note; /* what else is to be known; NULL */
    const char *deaf; /* options of its own with which it ignores the variable; NULL */
};

/* NULL: there are no more. */
const struct yarn_runtime *yarn_runtime_at(size_t number);

/* The runtime that a program's or library's path belongs to; NULL: none. */
const struct yarn_runtime *yarn_runtime_of(const char *path);
