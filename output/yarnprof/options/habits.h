/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Options and verbs that users of other profilers type, and the form that does it here. Threads:
 * safe anywhere.
 */
#pragma once

#include "core/base/base.h"

struct yarn_habit {
    const char *verb;  /* NULL: it is the word that is typed for one */
    const char *words; /* with their dashes, blanks between them */
    const char *way;   /* a clause; NULL: it is taken, and asks for what is so anyway */
};

/* What stands before a = or, of a letter, its value. NULL: nobody types it. */
const struct yarn_habit *yarn_habit_find(const char *verb, const char *word);
