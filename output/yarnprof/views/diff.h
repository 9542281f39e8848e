/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof diff` shows and in which forms: between the verb, which reads the command line,
 * and the files that print. Threads: one.
 */
#pragma once

#include "output/analysis/compare/diff.h"
#include "output/text/json.h"
#include "output/yarnprof/io/out.h"

struct yarn_diff_view {
    const struct yarn_diff *diff;
    const struct yarn_diff_options *options;
    const char *paths[2];
    size_t limit; /* rows an event; 0: all */
};

void yarn_diff_text(const struct yarn_diff_view *view, const struct yarn_out *out);
/* -ENOMEM. */
YARN_MUST_CHECK int yarn_diff_json(const struct yarn_diff_view *view, const struct yarn_out *out);
/* The list of rows, as CSV or JSON. */
void yarn_diff_rows(const struct yarn_diff_view *view, const struct yarn_out *out,
                    struct yarn_json *json);

/* False for the rows of an event that are more than the limit; `nr_shown` counts them. */
bool yarn_diff_is_shown(const struct yarn_diff_view *view, size_t row, size_t *nr_shown);
/* The module's path or what follows its last slash. */
const char *yarn_diff_module(const struct yarn_diff_view *view, const struct yarn_diff_row *row,
                             bool is_path);
