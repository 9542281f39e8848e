/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof diff` shows and in which forms: between the verb, which reads the command line,
 * and the files that print. Threads: one.
 */
#pragma once

#include "output/fold/diff.h"
#include "output/text/json.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/views/diff_limit.h"

struct yarn_diff_view {
    const struct yarn_diff *diff;
    const struct yarn_diff_options *options;
    const char *paths[2];
    size_t limit;   /* rows an event; 0: all */
    bool has_noise; /* rows within noise, too */
    const struct yarn_diff_limit *growth;
    struct yarn_diff_verdict verdict; /* of that */
};

void yarn_diff_text(const struct yarn_diff_view *view, const struct yarn_out *out);
/* -ENOMEM. */
YARN_MUST_CHECK int yarn_diff_json(const struct yarn_diff_view *view, const struct yarn_out *out);
/* The list of rows, as CSV or JSON. */
void yarn_diff_rows(const struct yarn_diff_view *view, const struct yarn_out *out,
                    struct yarn_json *json);

/* False for the rows of an event that are more than the limit, or within noise; `nr_rows` counts
 * the event's rows up to this one. */
bool yarn_diff_is_shown(const struct yarn_diff_view *view, size_t row, size_t *nr_rows);
/* The module's path or what follows its last slash. */
const char *yarn_diff_module(const struct yarn_diff_view *view, const struct yarn_diff_row *row,
                             bool is_path);
