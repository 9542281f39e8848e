/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whether the loader puts the preload into what a command runs, as its file says. Threads: one.
 */
#pragma once

#include <limits.h>

#include "core/base/text.h"

/* As execvp(3) finds it. */
bool yarn_loadable_find(const char *command, char ret_path[PATH_MAX]);

/* The same; of a script the program that runs it, behind env(1), too. */
bool yarn_loadable_program(const char *command, char ret_path[PATH_MAX]);

/* False: a clause such as "/bin/x is statically linked", with the way out behind a semicolon. True
 * also where the file cannot be looked at. */
bool yarn_loadable_is(const char *command, struct yarn_text *ret_why);

/* "; WAY OUT" of programs that take no preload. */
extern const char yarn_loadable_outside[];
