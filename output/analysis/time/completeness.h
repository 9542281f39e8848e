/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * Completeness: all that is missing from a profile, or too much in it, in one list
 * for every view. Threads: one owner at a time.
 */
#pragma once

#include "output/analysis/profile/profile.h"

enum yarn_completeness_unit {
    YARN_COMPLETENESS_SAMPLES,
    YARN_COMPLETENESS_NS,
    YARN_COMPLETENESS_RECORDS
};

struct yarn_completeness_row {
    const char *key;  /* of JSON */
    const char *what; /* a few words */
    enum yarn_completeness_unit unit;
    uint64_t count;
    double percent; /* of all samples, or of the time that it is a part of; negative: of nothing */
};

enum { YARN_COMPLETENESS_MAX = 32 };

struct yarn_completeness {
    struct yarn_completeness_row rows[YARN_COMPLETENESS_MAX]; /* those that are not 0 */
    size_t count;
};

enum { YARN_COMPLETENESS_TEXT = 128 };

/* "0.120 s of CPU time unsampled (0.40 %)", all of it our own words. */
void yarn_completeness_describe(const struct yarn_completeness_row *row,
                                char ret_text[YARN_COMPLETENESS_TEXT]);

/* Of the whole profile. */
struct yarn_completeness yarn_completeness_of(const struct yarn_profile *profile);
