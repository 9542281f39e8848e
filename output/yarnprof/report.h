/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof report` shows and in which forms: between the verb, which reads the command line,
 * and the files that print. Threads: one.
 */
#pragma once

#include "output/analysis/rows.h"
#include "output/analysis/tree.h"
#include "output/yarnprof/out.h"
#include "output/yarnprof/select.h"

enum yarn_report_view { YARN_REPORT_ROWS, YARN_REPORT_TREE, YARN_REPORT_CALLERS };

struct yarn_report {
    const struct yarn_profile *profile;
    const struct yarn_filter *filter;
    struct yarn_rows rows;
    struct yarn_tree tree; /* of the views with depth */
    struct yarn_trust trust;
    enum yarn_report_view view;
    size_t limit; /* rows or nodes; 0: all */
    bool has_limit;
    double least_percent; /* nodes below are not shown */
    bool is_by_total;
};

void yarn_report_text(const struct yarn_report *report, const struct yarn_out *out);
/* -ENOMEM. */
YARN_MUST_CHECK int yarn_report_json(const struct yarn_report *report, const struct yarn_out *out);
void yarn_report_csv(const struct yarn_report *report, const struct yarn_out *out);

/* Parts of the text: what was recorded and what is missing from it; the views with depth. */
void yarn_report_print_head(const struct yarn_report *report, const struct yarn_out *out);
void yarn_report_print_tree(const struct yarn_report *report, const struct yarn_out *out);

/* What is named and coloured alike in all. */
enum yarn_paint yarn_report_paint_of(double percent);
/* "[joined]" where the greater part of the node was joined; else "". */
const char *yarn_report_mark_of(const struct yarn_tree_node *node);
/* " (inlined)" behind the name of a function that is; else "". */
const char *yarn_report_inlined_of(const struct yarn_profile *profile, uint32_t function);
