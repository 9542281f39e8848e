/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * One option of a verb: a row of its table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

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
    YARN_ARGUMENT_MEMORY,
    YARN_ARGUMENT_OWN = 64,
    /* Plus the place of a member of the request; see YARN_ARGUMENT_INTO. */
    YARN_ARGUMENT_FLAG = 1 << 24,
    YARN_ARGUMENT_TEXT = 1 << 25,
};

struct yarn_argument {
    const char *name;  /* of the long option; NULL: only a letter; "": a headline in the help */
    int letter;        /* 0: none; with neither name nor letter the table ends */
    const char *value; /* placeholder; NULL: takes none; in brackets: may be left out (=VALUE) */
    const char *help;
    int id;
};

/* An id: what is given goes into a member of the request. That is a flag, which becomes true, or a
 * text, which is "" where the value was left out. */
#define YARN_ARGUMENT_INTO(request, name)                                                          \
    ((int)offsetof(request, name) + _Generic(((const request *)0)->name, bool                      \
                                             : YARN_ARGUMENT_FLAG, const char *                    \
                                             : YARN_ARGUMENT_TEXT))
