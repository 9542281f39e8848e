/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What --help and the completion of the shells show of a verb's table.
 * Threads: one.
 */
#pragma once

#include "output/yarnprof/options/command.h"

void yarn_help_print(const struct yarn_command *command);

/* A line a word (--to, -t), for the scripts in completion/: the word, "none" (takes no value),
 * "any", "file" or its values with | between, and the help; a tab between them. */
void yarn_help_print_words(const struct yarn_argument *argument);
