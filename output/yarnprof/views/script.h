/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * A timeline as text in the layout of perf script, so that what reads that text reads this:
 *
 *     COMM  PID/TID [CPU] SECONDS.MICROS:     PERIOD EVENT: [MEMORY] [FIELD=VALUE …]
 *             ADDRESS FUNCTION+0xOFFSET (MODULE)            one line a frame, the leaf first
 *     (an empty line)
 *
 * Records that are no samples are one line each, without the empty line. Addresses are those of the
 * module's file. Where a stack's root side is missing, the reason stands for a frame.
 *
 * Threads: one.
 */
#pragma once

#include "output/analysis/profile/filter.h"
#include "output/analysis/time/timeline.h"
#include "output/yarnprof/io/out.h"
#include "output/yarnprof/views/stream_list.h"

enum yarn_script_field {
    YARN_SCRIPT_COMM,
    YARN_SCRIPT_PID,
    YARN_SCRIPT_TID,
    YARN_SCRIPT_CPU,
    YARN_SCRIPT_TIME,
    YARN_SCRIPT_PERIOD,
    YARN_SCRIPT_EVENT,
    YARN_SCRIPT_IP,
    YARN_SCRIPT_SYM,
    YARN_SCRIPT_SYMOFF,
    YARN_SCRIPT_DSO,
    YARN_SCRIPT_ADDR,
    YARN_SCRIPT_TRACE,
    YARN_SCRIPT_WEIGHT,
    YARN_SCRIPT_DATA_SRC,
    YARN_SCRIPT_FIELD_COUNT,
};

#define YARN_SCRIPT_FIELDS_DEFAULT ((1u << YARN_SCRIPT_FIELD_COUNT) - 1)

struct yarn_stream_list;

struct yarn_script {
    const struct yarn_profile *profile;
    const struct yarn_filter *filter;
    const struct yarn_choice *choice;       /* of the profile */
    const struct yarn_stream_list *streams; /* NULL: couplebreak is off */
    unsigned fields;                        /* a bit each */
    bool has_no_header;
    bool is_samples_only;
};

/* A list that replaces *fields or, with + or - before each, changes them. -EINVAL. */
YARN_MUST_CHECK int yarn_script_parse_fields(const char *text, unsigned *fields);

/* Takes the timeline, which must be sorted, to its end. -ENOMEM, or what its file says. */
YARN_MUST_CHECK int yarn_script_print(const struct yarn_script *script,
                                      struct yarn_timeline *timeline, const struct yarn_out *out);

/* All entries of all streams, each behind the other. */
void yarn_script_streams(const struct yarn_script *script, const struct yarn_stream_view *shown,
                         const struct yarn_out *out);
