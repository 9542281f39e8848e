/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * What script is asked to print: of which profile, which fields. Threads: one.
 */
#pragma once

#include "output/analysis/profile/filter.h"

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
