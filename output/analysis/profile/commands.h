/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Command lines in little room, so that each can be known from the others: of twelve runs of a
 * compiler the name of the source file is worth more than the options that all of them have.
 * Threads: one owner at a time.
 */
#pragma once

#include "core/base/text.h"
#include "output/analysis/profile/profile.h"

struct yarn_commands {
    struct yarn_strings words;         /* each behind its program's name; that alone, too */
    struct yarn_commands_word *counts; /* owned: of each word */
    size_t nr_counts, capacity;
    uint32_t nr_commands;
};

/* Of all dumps. -ENOMEM. */
YARN_MUST_CHECK int yarn_commands_of(const struct yarn_profile *profile,
                                     struct yarn_commands *ret_commands);
/* Idempotent. */
void yarn_commands_fini(struct yarn_commands *commands);

/* The command as it is where that is no longer than `columns`; else without its program's folders,
 * and with … for what occurs again in it or in other commands of the program, what is in most of
 * them first, until it is short enough or nothing is left to leave out. -ENOMEM. */
YARN_MUST_CHECK int yarn_commands_name(struct yarn_commands *commands, const char *command,
                                       size_t columns, struct yarn_text *text);
