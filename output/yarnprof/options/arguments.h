/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The options of a verb as a table, from which come the reading of the command line and --help.
 * Threads: one.
 */
#pragma once

#include "output/yarnprof/options/command.h"

/* -1: go on with argv[*ret_first …]; else an exit status: help was printed, or a complaint. */
YARN_MUST_CHECK int yarn_command_parse(const struct yarn_command *command, int argc, char **argv,
                                       int *ret_first);
