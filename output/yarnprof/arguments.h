/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * The options of a verb as a table, from which come the reading of the command line and --help.
 * Threads: one.
 */
#pragma once

#include "core/base/base.h"

/* Ids of options that verbs share; a verb's own begin at YARN_ARGUMENT_OWN. */
enum yarn_argument_id {
    YARN_ARGUMENT_HELP = 1,
    YARN_ARGUMENT_FORMAT,
    YARN_ARGUMENT_OUTPUT,
    YARN_ARGUMENT_COLOR,
    YARN_ARGUMENT_NO_PAGER,
    YARN_ARGUMENT_LIMIT,
    YARN_ARGUMENT_EVENT,
    YARN_ARGUMENT_THREAD,
    YARN_ARGUMENT_PROCESS,
    YARN_ARGUMENT_COMM,
    YARN_ARGUMENT_MODULE,
    YARN_ARGUMENT_FUNCTION,
    YARN_ARGUMENT_TIME,
    YARN_ARGUMENT_INLINES,
    YARN_ARGUMENT_NO_INLINES,
    YARN_ARGUMENT_OWN = 64,
};

struct yarn_argument {
    const char *name;  /* of the long option; NULL: only a letter; "": a headline in the help */
    int letter;        /* 0: none; with neither name nor letter the table ends */
    const char *value; /* placeholder; NULL: takes none; in brackets: may be left out (=VALUE) */
    const char *help;
    int id;
};

struct yarn_command {
    const char *verb;
    const char *operands; /* "FILE…" */
    const char *about;    /* a sentence */
    const struct yarn_argument *arguments;
    bool stops_at_operand; /* what follows the first operand is not ours */
    /* 0, or -EINVAL with what would be right (a phrase). `value` NULL: none was given. */
    int (*take)(void *self, int id, const char *value, const char **ret_right);
    void *self;
};

/* -1: go on with argv[*ret_first …]; else an exit status: help was printed, or a complaint. */
YARN_MUST_CHECK int yarn_command_parse(const struct yarn_command *command, int argc, char **argv,
                                       int *ret_first);
