/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The options of a verb as a table, from which come the reading of the command line and --help.
 * Threads: one.
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
    /* What `take` fills and `run` gets: so many bytes, which begin as `initial` (NULL: zeroed). */
    size_t request_bytes;
    const void *initial;
    void (*begin)(void *self); /* what else there is before that; NULL: nothing */
    /* NULL ends the operands. An exit status. */
    int (*run)(void *self, char **operands);
    void (*fini)(void *self); /* also where the command line was refused; NULL: nothing to do */
};

/* What every verb is: its command line is read, then it runs. argv[0] is the verb; an exit status.
 */
int yarn_command_run(const struct yarn_command *command, int argc, char **argv);

/* -1: go on with argv[*ret_first …]; else an exit status: help was printed, or a complaint. */
YARN_MUST_CHECK int yarn_command_parse(const struct yarn_command *command, void *self, int argc,
                                       char **argv, int *ret_first);
