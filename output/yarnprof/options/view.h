/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What the verbs take that show samples, besides options of their own: which samples, how many rows
 * of them, and where they are printed. Threads: one.
 */
#pragma once

#include "output/yarnprof/io/out.h"
#include "output/yarnprof/options/select.h"

struct yarn_view {
    struct yarn_out out;
    struct yarn_select select;
    size_t limit;
    bool has_limit; /* the user gave one */
};

#define YARN_VIEW_EMPTY ((struct yarn_view){.select = YARN_SELECT_EMPTY})

#define YARN_VIEW_LIMIT_ARGUMENT(help)                                                             \
    {                                                                                              \
        "limit", 0, "N", help, YARN_ARGUMENT_LIMIT                                                 \
    }

/* As take of yarn_command. */
YARN_MUST_CHECK int yarn_view_take(struct yarn_view *view, int id, const char *value,
                                   const char **ret_right);

/* How many rows are shown, 0 for all: where the user leaves it alone so many of text, else all. */
size_t yarn_view_limit(const struct yarn_view *view, size_t of_text);
