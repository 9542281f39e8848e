/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof diff` shows and in which forms: between the verb, which reads the command line,
 * and the files that print. Threads: one.
 */
#pragma once

#include <regex.h>

#include "output/fold/diff.h"
#include "output/text/json.h"
#include "output/yarnprof/io/out.h"

struct yarn_diff_limit {
    const char *text; /* as it was asked for, borrowed; NULL: there is no limit */
    double percent;
    bool has_function;
    regex_t function;
};

/* The function or total that grew the most of those that grew too much; else the total that is
 * known least, or of the functions that were asked for the one that took most. */
struct yarn_diff_verdict {
    bool is_exceeded;
    uint32_t event;
    const struct yarn_diff_row *row; /* NULL: the event's total */
    double percent;                  /* it grew by so much; infinite where there was none before */
    double seen_percent;             /* what grew less is within noise, of the total or: */
    const struct yarn_diff_row *greatest; /* of the functions that were asked for; NULL: none */
    size_t nr_judged;                     /* events that both sides recorded */
    size_t nr_matching;                   /* rows of functions that were asked for */
    size_t nr_runs;                       /* so many a side would tell the limit; 0: these do */
};

/* -EINVAL. */
YARN_MUST_CHECK int yarn_diff_limit_parse(struct yarn_diff_limit *limit, const char *text);
void yarn_diff_limit_fini(struct yarn_diff_limit *limit);

struct yarn_diff_verdict yarn_diff_judge(const struct yarn_diff *diff,
                                         const struct yarn_diff_options *options,
                                         const struct yarn_diff_limit *limit);
/* One line. */
void yarn_diff_verdict_print(const struct yarn_diff *diff, const struct yarn_diff_options *options,
                             const struct yarn_diff_limit *limit,
                             const struct yarn_diff_verdict *verdict, FILE *file);

struct yarn_diff_view {
    const struct yarn_diff *diff;
    const struct yarn_diff_options *options;
    const char *paths[2];
    size_t limit;   /* rows an event; 0: all */
    bool has_noise; /* rows within noise, too */
    const struct yarn_diff_limit *growth;
    struct yarn_diff_verdict verdict; /* of that */
};

void yarn_diff_print(const struct yarn_diff_view *view, const struct yarn_out *out);
