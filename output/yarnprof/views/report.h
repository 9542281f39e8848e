/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What `yarnprof report` shows and in which forms: between the verb, which reads the command line,
 * and the files that print. Threads: one.
 */
#pragma once

#include "output/analysis/profile/commands.h"
#include "output/fold/branches.h"
#include "output/fold/calls.h"
#include "output/fold/rows.h"
#include "output/fold/tree.h"
#include "output/metrics/metric_file.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/options/select.h"
#include "output/yarnprof/show/table.h"

enum yarn_report_view {
    YARN_REPORT_ROWS,
    YARN_REPORT_TREE,
    YARN_REPORT_CALLERS,
    YARN_REPORT_CALLS,
    YARN_REPORT_METRICS,
    YARN_REPORT_BRANCHES,
};

struct yarn_profile_report {
    const struct yarn_profile *profile;
    const struct yarn_choice *choice;
    struct yarn_rows rows;
    struct yarn_tree tree; /* of the views with depth */
    struct yarn_calls calls;
    struct yarn_branches branches;
    const struct yarn_metric_file *metrics;           /* borrowed; of YARN_REPORT_METRICS */
    const char *metric_events[YARN_METRIC_NAMES_MAX]; /* what each of its names stands for */
    struct yarn_trust trust;
    enum yarn_report_view view;
    const char *field;              /* of YARN_BY_FIELD */
    struct yarn_commands *commands; /* borrowed; of YARN_BY_COMMAND, where it is shown as text */
    size_t command_columns;         /* room for one of them */
    size_t limit;                   /* rows or nodes; 0: all */
    double least_percent;           /* nodes below are not shown */
    bool is_by_total;
    bool is_side_by_side; /* text: one table for all events */
    bool is_part; /* something was filtered: what is missing from the whole is not shown by row */
};

/* -ENOMEM. */
YARN_MUST_CHECK int yarn_report_text(const struct yarn_profile_report *report,
                                     const struct yarn_out *out);
YARN_MUST_CHECK int yarn_report_json(const struct yarn_profile_report *report,
                                     const struct yarn_out *out);

/* Each in the form of `out`; `json` is that of YARN_OUT_JSON. Rows and nodes of a tree not as text.
 */
void yarn_report_rows(const struct yarn_profile_report *report, const struct yarn_out *out);
void yarn_report_nodes(const struct yarn_profile_report *report, const struct yarn_out *out);
/* Calls and their cost; edges of branches. */
void yarn_report_calls(const struct yarn_profile_report *report, const struct yarn_out *out);
void yarn_report_branches(const struct yarn_profile_report *report, const struct yarn_out *out);

/* Of each function; in all three formats. -ENOMEM. */
YARN_MUST_CHECK int yarn_report_metrics(const struct yarn_profile_report *report,
                                        const struct yarn_out *out);

/* Parts of the text: what was recorded and what is missing from it; the views with depth. */
void yarn_report_print_foot(const struct yarn_profile_report *report, const struct yarn_out *out);
void yarn_report_print_head(const struct yarn_profile_report *report, const struct yarn_out *out);
void yarn_report_print_tree(const struct yarn_profile_report *report, const struct yarn_out *out);
/* Rows below those of the event: samples that were lost, time in the kernel that could not be
 * sampled, time that passed unsampled. */
void yarn_report_print_missing(const struct yarn_profile_report *report, const struct yarn_out *out,
                               uint32_t event);

/* Programs of trees that were recorded from outside, below the tables, and as the member "tree".
 * -ENOMEM. */
YARN_MUST_CHECK int yarn_report_print_programs(const struct yarn_profile_report *report,
                                               const struct yarn_out *out);
YARN_MUST_CHECK int yarn_report_put_programs(const struct yarn_profile_report *report,
                                             const struct yarn_out *out);

/* Functions whose shares depend on which of two clocks is asked: sentences below the tables, and a
 * list of the notes. */
void yarn_report_print_phases(const struct yarn_profile_report *report, const struct yarn_out *out);
/* All that is missing, as `verify --trust` has it. */
void yarn_report_put_completeness(const struct yarn_profile *profile, struct yarn_json *json);
void yarn_report_put_phases(const struct yarn_profile_report *report, struct yarn_json *json);
void yarn_report_put_phase(const struct yarn_profile *profile,
                           const struct yarn_profile_phase *phase, struct yarn_json *json);

/* What an event should have had besides: time that passed unsampled has that of lost samples in it,
 * which is shown as theirs. */
struct yarn_report_missing {
    uint64_t lost;        /* samples */
    uint64_t lost_weight; /* 0: unknown */
    uint64_t unsampled_ns, kernel_ns;
};

struct yarn_report_missing yarn_report_missing_of(const struct yarn_profile_report *report,
                                                  uint32_t event);

/* Whether its weights are more than what the kernel counted: in frequency mode a sample weighs the
 * period, and that of a burst of software events is raised before as many have come. */
bool yarn_report_overshoots(const struct yarn_profile_report *report, uint32_t event,
                            uint64_t *ret_count);

/* "cpu-clock: 1,234 samples, 1.24 s". */
void yarn_report_print_event(const struct yarn_profile_report *report, const struct yarn_out *out,
                             uint32_t event);
/* The rows of all events in one table; where the terminal is too narrow nothing is printed. */
YARN_MUST_CHECK int yarn_report_print_side(const struct yarn_profile_report *report,
                                           const struct yarn_out *out, bool *ret_fits);

/* Columns of a row (the table's own is the report): its sums, in all three forms; of text what it
 * is called, and the second name (of its module, its process, …). */
extern const struct yarn_show_column yarn_report_sums[];
/* Of a command line the end is worth as much as the beginning. */
static inline enum yarn_show_align yarn_report_name_align(enum yarn_by by)
{
    return by == YARN_BY_COMMAND ? YARN_SHOW_MIDDLE : YARN_SHOW_NAME;
}

yarn_show_get_fn yarn_report_get_name, yarn_report_get_detail;

/* Threads, processes, … have no inside: unless functions are filtered, self and total are one. */
bool yarn_report_is_one_share(const struct yarn_profile_report *report);

/* " (inlined)" behind the name of a function that is; else "". */
const char *yarn_report_inlined_of(const struct yarn_profile *profile, uint32_t function);
