/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reading a block of NAME=VALUE texts: the only way in which yarn reads a variable.
 * Threads, signals: pure; safe anywhere as long as nobody changes the block.
 */
#pragma once

#include "core/base/span.h"

/* The value of the first entry of that name, as getenv(3) has it; NULL where there is none.
 * envp may be NULL. */
const char *yarn_environment_find(char *const envp[], struct yarn_span name);

/* The name of an entry: what stands before its =. */
struct yarn_span yarn_environment_name(const char *entry);
